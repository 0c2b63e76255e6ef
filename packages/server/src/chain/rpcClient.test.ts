import { NodeUnavailableError } from '../ground/unavailable.ts'
import assert from 'node:assert/strict'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { createRpcClient, revertData, parseRpcAnswer, type RpcOutcome } from './rpcClient.ts'

interface Asked {
  readonly id: number
  readonly method: string
}

describe('the client of a node', () => {
  let chainId: unknown = '0x1'
  let asked: string[] = []
  let delayMs = 0
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request) text += String(chunk)
    const calls = JSON.parse(text) as Asked[]
    asked = calls.map(({ method }) => method)
    const answers = calls.map(({ id, method }) => ({ id, result: method === 'eth_chainId' ? chainId : `${method}!` }))
    setTimeout(() => response.end(JSON.stringify(answers)), delayMs)
  })
  const client = (of: { chainId?: number; timeoutMs?: number } = {}) =>
    createRpcClient({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, timeoutMs: 2_000, ...of })
  const CALLS = [
    { method: 'a', params: [] },
    { method: 'b', params: [] },
  ]
  const OUTCOMES = [
    { ok: true, result: 'a!' },
    { ok: true, result: 'b!' },
  ]

  before(() => new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening)))
  after(() => server.close())

  it('asks nothing more than it is told to when any chain will do', async () => {
    assert.deepEqual(await client().batch(CALLS), OUTCOMES)
    assert.deepEqual(asked, ['a', 'b'])
  })

  it('believes a node of its chain, in the same round trip', async () => {
    chainId = '0x66eee'
    const on = client({ chainId: 421_614 })
    assert.deepEqual(await on.batch(CALLS), OUTCOMES)
    assert.deepEqual(asked, ['a', 'b', 'eth_chainId'])
    assert.equal(on.roundTrips(), 1)
  })

  it('never asks for more than a hundred things at once, in the order of the calls', async () => {
    const on = client({ chainId: 421_614 })
    const calls = Array.from({ length: 250 }, (_, i) => ({ method: `call ${i}`, params: [] }))
    const outcomes = await on.batch(calls)
    assert.deepEqual(
      outcomes,
      calls.map(({ method }) => ({ ok: true, result: `${method}!` })),
    )
    assert.deepEqual([on.roundTrips(), asked.length], [3, 250 - 2 * 99 + 1])
    assert.deepEqual(await on.batch([]), [])
  })

  it('takes a node of another chain, or of none, for one that did not answer', async () => {
    for (chainId of ['0x1', '0x066eee', '421614', 421_614, null, undefined, {}]) {
      await assert.rejects(client({ chainId: 421_614 }).batch(CALLS), NodeUnavailableError)
    }
  })

  it('gives a node that is slow more time for many calls than for few', async () => {
    delayMs = 500
    const hasty = client({ timeoutMs: 50 })
    await assert.rejects(hasty.batch(CALLS), NodeUnavailableError)
    const many = Array.from({ length: 40 }, () => CALLS).flat()
    assert.equal((await hasty.batch(many)).length, many.length)
    delayMs = 0
  })

  it('cuts off a node that sends without end, and says so', async () => {
    const fill = (response: ServerResponse): void => {
      if (!response.destroyed) response.write(' '.repeat(65_536), () => fill(response))
    }
    const endless = createServer((_request, response) => fill(response))
    await new Promise<void>((listening) => endless.listen(0, '127.0.0.1', listening))
    const url = `http://127.0.0.1:${(endless.address() as AddressInfo).port}`
    const bounded = createRpcClient({ url, timeoutMs: 60_000, maxAnswerBytes: 1_000_000 })
    await assert.rejects(bounded.batch(CALLS), {
      name: 'NodeUnavailableError',
      message: 'the node was cut off: the answer has more than 1000000 bytes',
    })
    endless.closeAllConnections()
    endless.close()
  })

  it('asks nothing for nothing', async () => {
    const on = client({ chainId: 1 })
    assert.deepEqual(await on.batch([]), [])
    assert.equal(on.roundTrips(), 0)
  })
})

describe('parseRpcAnswer', () => {
  it('puts answers in the order of the calls, whatever order the node chose', () => {
    const text = '[{"id":1,"result":"b"},{"id":0,"error":{"code":3,"message":"execution reverted","data":"0x01"}}]'
    assert.deepEqual(parseRpcAnswer(text, 2), [
      { ok: false, code: 3, message: 'execution reverted', data: '0x01' },
      { ok: true, result: 'b' },
    ])
  })

  it('takes a null result for an answer', () => {
    assert.deepEqual(parseRpcAnswer('[{"id":0,"result":null}]', 1), [{ ok: true, result: null }])
  })

  it('says the node did not answer when it left out a call or talks nonsense', () => {
    const nonsense = [
      '',
      '<html>',
      '{"id":0,"result":1}',
      '[]',
      '[null]',
      '[{"id":"0","result":1}]',
      '[{"id":0}]',
      '[[]]',
      '"x"',
    ]
    for (const text of nonsense) assert.throws(() => parseRpcAnswer(text, 1), NodeUnavailableError, text)
  })
})

describe('revertData', () => {
  const failed = (data: unknown): RpcOutcome => ({ ok: false, code: 3, message: 'execution reverted', data })

  it('finds the bytes in every shape that nodes use', () => {
    assert.equal(revertData(failed('0xDEADBEEF')), '0xdeadbeef')
    assert.equal(revertData(failed({ data: '0xdeadbeef' })), '0xdeadbeef')
    assert.equal(revertData(failed('Reverted 0xdeadbeef')), '0xdeadbeef')
    assert.equal(revertData(failed('0x')), '0x')
  })

  it('is undefined where there are none', () => {
    for (const data of [undefined, null, 7, {}, { data: 1 }, 'no bytes', '0xabc']) {
      assert.equal(revertData(failed(data)), undefined)
    }
    assert.equal(revertData({ ok: true, result: '0xdeadbeef' }), undefined)
  })
})
