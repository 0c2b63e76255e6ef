import assert from 'node:assert/strict'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { gzipSync } from 'node:zlib'
import { AnswerTooLongError, boundedText } from './boundedText.ts'

describe('boundedText', () => {
  let respond: (response: ServerResponse) => void
  let isCut: Promise<unknown> = Promise.resolve()
  const server = createServer((_request, response) => {
    isCut = new Promise((resolve) => response.once('close', resolve))
    respond(response)
  })
  const read = async (maxBytes: number): Promise<string> =>
    boundedText(await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`), maxBytes)

  before(() => new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening)))
  after(() => server.close())

  it('reads what is announced, what is not, and what is compressed', async () => {
    respond = (response) => response.end('grüße')
    assert.equal(await read(7), 'grüße')
    respond = (response) => {
      response.write('grü')
      response.end('ße')
    }
    assert.equal(await read(7), 'grüße')
    respond = (response) => response.setHeader('content-encoding', 'gzip').end(gzipSync('grüße'))
    assert.equal(await read(7), 'grüße')
    respond = (response) => response.writeHead(204).end()
    assert.equal(await read(7), '')
  })

  it('cuts off an answer without end, and says why', async () => {
    respond = function send(response) {
      if (!response.destroyed) response.write('x'.repeat(10_000), () => send(response))
    }
    await assert.rejects(read(1_000_000), (error) => {
      assert.ok(error instanceof AnswerTooLongError)
      assert.equal(error.message, 'the answer has more than 1000000 bytes')
      return true
    })
    await isCut
  })

  it('refuses one that is announced as too long, and one that unpacks to too much', async () => {
    respond = (response) => response.end('x'.repeat(1_001))
    await assert.rejects(read(1_000), AnswerTooLongError)
    respond = (response) => response.setHeader('content-encoding', 'gzip').end(gzipSync('x'.repeat(1_000_000)))
    await assert.rejects(read(10_000), AnswerTooLongError)
  })
})
