import { NodeUnavailableError } from '../ground/unavailable.ts'
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { createRpcClient } from './rpcClient.ts'

interface Asked {
  readonly id: number
  readonly method: string
}

describe('the client of a node', () => {
  let chainId: unknown = '0x1'
  let asked: string[] = []
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request) text += String(chunk)
    const calls = JSON.parse(text) as Asked[]
    asked = calls.map(({ method }) => method)
    const answers = calls.map(({ id, method }) => ({ id, result: method === 'eth_chainId' ? chainId : `${method}!` }))
    response.end(JSON.stringify(answers))
  })
  const client = (of: { chainId?: number } = {}) =>
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

  it('takes a node of another chain, or of none, for one that did not answer', async () => {
    for (chainId of ['0x1', '0x066eee', '421614', 421_614, null, undefined, {}]) {
      await assert.rejects(client({ chainId: 421_614 }).batch(CALLS), NodeUnavailableError)
    }
  })

  it('asks nothing for nothing', async () => {
    const on = client({ chainId: 1 })
    assert.deepEqual(await on.batch([]), [])
    assert.equal(on.roundTrips(), 0)
  })
})
