import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { decodeFunctionData, encodeFunctionResult, numberToHex, parseAbi, type Hex } from 'viem'
import { createMulticallClient } from './multicallClient.ts'
import type { RpcCall, RpcClient, RpcOutcome } from './rpcClient.ts'

const ABI = parseAbi([
  'struct Call3 { address target; bool allowFailure; bytes callData; }',
  'struct Result { bool success; bytes returnData; }',
  'function aggregate3(Call3[] calls) payable returns (Result[] returnData)',
])

const TARGET = `0x${'11'.repeat(20)}`

const REVERTED: RpcOutcome = { ok: false, code: 3, message: 'execution reverted', data: '0x08c379a0' }

/** A node whose views return their own calldata, and revert for calldata that begins with ff. */
function createNode() {
  const asked: string[] = []
  const node = {
    asked,
    /** Answer to `aggregate3` in place of the real one. */
    aggregate: undefined as RpcOutcome | undefined,
    client: { roundTrips: () => 7, batch: async (calls) => calls.map(answer) } satisfies RpcClient as RpcClient,
  }

  function answer({ method, params }: RpcCall): RpcOutcome {
    if (method !== 'eth_call') return (asked.push(method), { ok: true, result: method })
    const { to, data } = params[0] as { to: Hex; data: Hex }
    if (to === TARGET) {
      asked.push(data)
      return data.startsWith('0xff') ? REVERTED : { ok: true, result: data }
    }
    const { args } = decodeFunctionData({ abi: ABI, data })
    asked.push(`aggregate ${args[0].length} at ${String(params[1])}`)
    if (node.aggregate !== undefined) return node.aggregate
    const results = args[0].map(({ callData }) => ({ success: !callData.startsWith('0xff'), returnData: callData }))
    return { ok: true, result: encodeFunctionResult({ abi: ABI, functionName: 'aggregate3', result: results }) }
  }

  return node
}

const call = (data: string, block = '0x1'): RpcCall => ({ method: 'eth_call', params: [{ to: TARGET, data }, block] })
const results = (outcomes: readonly RpcOutcome[]) => outcomes.map((outcome) => (outcome.ok ? outcome.result : outcome))

describe('a client that uses Multicall3', () => {
  it('sends views at one block together and everything else alone, and keeps the order', async () => {
    const node = createNode()
    const from = { method: 'eth_call', params: [{ to: TARGET, data: '0x03', from: TARGET }, '0x1'] }
    const head = { method: 'eth_blockNumber', params: [] }
    const calls = [call('0x01'), head, call('0x02'), from, call('0x04', '0x2')]
    const outcomes = await createMulticallClient(node.client).batch(calls)
    assert.deepEqual(results(outcomes), ['0x01', 'eth_blockNumber', '0x02', '0x03', '0x04'])
    assert.deepEqual(node.asked, ['aggregate 2 at 0x1', 'eth_blockNumber', '0x03', '0x04'])
  })

  it('counts round trips of the client below, and splits what is too much for one call', async () => {
    const node = createNode()
    const client = createMulticallClient(node.client)
    const data = Array.from({ length: 120 }, (_, at) => numberToHex(at, { size: 2 }))
    assert.deepEqual(results(await client.batch(data.map((text) => call(text)))), data)
    assert.deepEqual(node.asked, ['aggregate 50 at 0x1', 'aggregate 50 at 0x1', 'aggregate 20 at 0x1'])
    assert.equal(client.roundTrips(), 7)
  })

  it('asks again alone for what failed inside, so that the outcome is that of the node', async () => {
    const node = createNode()
    const outcomes = await createMulticallClient(node.client).batch([call('0x01'), call('0xff'), call('0x02')])
    assert.deepEqual(results(outcomes), ['0x01', REVERTED, '0x02'])
    assert.deepEqual(node.asked, ['aggregate 3 at 0x1', '0xff'])
  })

  it('does without it when the node refuses the call, or answers with something else', async () => {
    for (const aggregate of [
      { ...REVERTED, message: 'out of gas' },
      { ok: true, result: '0x1234' },
    ] as const) {
      const node = createNode()
      node.aggregate = aggregate
      const client = createMulticallClient(node.client)
      assert.deepEqual(results(await client.batch([call('0x01'), call('0x02')])), ['0x01', '0x02'])
      await client.batch([call('0x01'), call('0x02')])
      assert.equal(node.asked.filter((text) => text.startsWith('aggregate')).length, 2, 'the next may be small enough')
    }
  })

  it('looks only now and then for a contract that is not there', async () => {
    const node = createNode()
    node.aggregate = { ok: true, result: '0x' }
    const client = createMulticallClient(node.client)
    for (let n = 0; n < 102; n += 1) {
      assert.deepEqual(results(await client.batch([call('0x01'), call('0x02')])), ['0x01', '0x02'])
    }
    assert.equal(node.asked.filter((text) => text.startsWith('aggregate')).length, 2)
  })
})
