import assert from 'node:assert/strict'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, it } from 'node:test'
import { NodeUnavailableError } from '../ground/unavailable.ts'
import { clientOf, createProbe, firstResult, readClock, refusalIn } from './probe.ts'

const CALL = { method: 'eth_chainId', params: [] }

describe('createProbe', () => {
  const servers: Server[] = []

  afterEach(closeServers)

  function closeServers(): void {
    for (const server of servers.splice(0)) {
      server.close()
      server.closeAllConnections()
    }
  }

  async function probeOf(answer: RequestListener, path = '') {
    const server = createServer(answer)
    servers.push(server)
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`
    return createProbe({ url, now: Date.now })
  }

  /** Makes a server that answers each call of a batch. */
  const answering =
    (answerOf: (id: number) => object): RequestListener =>
    async (request, response) => {
      let text = ''
      for await (const chunk of request) text += String(chunk)
      const calls = JSON.parse(text) as { readonly id: number }[]
      response.end(JSON.stringify(calls.map(({ id }) => ({ id, ...answerOf(id) }))))
    }

  it('returns the outcomes, and the clock of the server', async () => {
    const probe = await probeOf(answering((id) => ({ result: `0x${id}` })))
    assert.equal(probe.clock(), undefined)
    const answer = await probe.ask([CALL, CALL])
    assert.deepEqual(answer.kind === 'answered' && answer.outcomes, [
      { ok: true, result: '0x0' },
      { ok: true, result: '0x1' },
    ])
    assert.equal(firstResult(answer), '0x0')
    assert.equal(refusalIn(answer, probe.url), undefined)
    assert.equal(typeof probe.clock()?.aheadMs, 'number')
  })

  it('asks again on another connection when one ends, and only where it is to be patient', async () => {
    let cuts = 1
    const answer = answering((id) => ({ result: `0x${id}` }))
    const probe = await probeOf((request, response) => {
      if (cuts-- > 0) request.socket.destroy()
      else void answer(request, response)
    })
    assert.equal((await probe.askPatiently([CALL])).kind, 'answered')
    cuts = 1
    assert.equal((await probe.ask([CALL])).kind, 'silent')
  })

  it('tells a refusal from too many requests, and repeats none of its address', async () => {
    const refusing = (status: number, text: string): RequestListener => {
      return (_request, response) => response.writeHead(status, { 'retry-after': '2' }).end(text)
    }
    const body = '{"error":{"message":"no plan for my-own-key"}}'
    const refused = await (await probeOf(refusing(403, body), '/my-own-key')).ask([CALL])
    assert.deepEqual(refused, { kind: 'refused', words: 'HTTP 403: no plan for ***', isRate: false, retryMs: 2_000 })
    const limited = await (await probeOf(refusing(429, 'slow'))).ask([CALL])
    assert.deepEqual(limited.kind === 'refused' && limited.isRate, true)
    const inside = await (await probeOf(answering(() => ({ error: { code: 429, message: 'capacity' } })))).ask([CALL])
    assert.deepEqual(inside.kind === 'refused' && inside.isRate, true)
    const batch = await (await probeOf(refusing(400, '{"error":{"message":"too many requests in batch"}}'))).ask([CALL])
    assert.deepEqual(batch.kind === 'refused' && batch.isRate, false)
  })

  it('says that nobody answers', async () => {
    const probe = await probeOf((request) => request.socket.destroy())
    const answer = await probe.ask([CALL])
    assert.equal(answer.kind, 'silent')
    assert.equal(firstResult(answer), undefined)
    assert.ok(refusalIn(answer, probe.url)!.length > 0)
  })

  it('asks in batches of the size that is taken', async () => {
    const sizes: number[] = []
    const probe = await probeOf(async (request, response) => {
      let text = ''
      for await (const chunk of request) text += String(chunk)
      const calls = JSON.parse(text) as { readonly id: number }[]
      sizes.push(calls.length)
      response.end(JSON.stringify(calls.map(({ id }) => ({ id, result: '0x1' }))))
    })
    const client = clientOf(probe, 2)
    assert.equal((await client.batch([CALL, CALL, CALL])).length, 3)
    assert.deepEqual([sizes, client.roundTrips()], [[2, 1], 2])
    closeServers()
    await assert.rejects(client.batch([CALL]), NodeUnavailableError)
  })
})

describe('readClock', () => {
  const DATE = 'Sun, 15 Nov 2026 12:00:00 GMT'
  const SAID_MS = Date.parse(DATE)

  it('counts as no difference what the way and whole seconds explain', () => {
    for (const [sent, received] of [
      [0, 10],
      [990, 1_500],
      [-5_000, 5_000],
    ] as const) {
      assert.equal(Math.abs(readClock(DATE, SAID_MS + sent, SAID_MS + received)!.aheadMs), 0)
    }
  })

  it('tells by how much this clock is ahead or behind', () => {
    assert.deepEqual(readClock(DATE, SAID_MS + 11_000, SAID_MS + 11_100), { aheadMs: 10_000 })
    assert.deepEqual(readClock(DATE, SAID_MS - 10_100, SAID_MS - 10_000), { aheadMs: -10_000 })
  })

  it('knows no clock without a date', () => {
    assert.equal(readClock(null, 0, 0), undefined)
    assert.equal(readClock('yesterday', 0, 0), undefined)
  })
})
