import { NodeUnavailableError } from '../ground/unavailable.ts'
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { CHAINS, diamondAbi } from '@bezel/protocol'
import { decodeFunctionData, encodeFunctionResult, type Hex } from 'viem'
import { createCallRound } from './diamondCalls.ts'
import type { RpcCall, RpcClient } from './rpcClient.ts'

/** Returns a node that answers every view with ten times the pair index it was asked for. */
function echoingNode(): RpcClient & { batches: RpcCall[][] } {
  const batches: RpcCall[][] = []
  return {
    batches,
    roundTrips: () => batches.length,
    async batch(calls) {
      batches.push([...calls])
      return calls.map(({ params: [call] }) => {
        const { functionName, args } = decodeFunctionData({ abi: diamondAbi, data: (call as { data: Hex }).data })
        const result = BigInt((args as [bigint])[0]) * 10n
        return { ok: true, result: encodeFunctionResult({ abi: diamondAbi, functionName, result } as never) }
      })
    },
  }
}

describe('createCallRound', () => {
  it('hands every caller its own result, at the block of the round', async () => {
    const node = echoingNode()
    const round = createCallRound(node, CHAINS.base.liveDiamond, '0x7')
    const first = round.view('pairMaxLeverage', [1n])
    const second = round.view('pairMinLeverage', [2n])
    assert.throws(() => first(), /before the round has run/)
    await round.run()
    assert.deepEqual([first(), second()], [10n, 20n])
    assert.equal(node.batches.length, 1)
    for (const { params } of node.batches[0]!) assert.equal(params[1], '0x7')
  })

  it('splits what is too much for one request, in order', async () => {
    const node = echoingNode()
    const round = createCallRound(node, CHAINS.base.liveDiamond, '0x7')
    const results = Array.from({ length: 450 }, (_, at) => round.view('pairMaxLeverage', [BigInt(at)]))
    await round.run()
    assert.deepEqual(
      results.map((result) => result()),
      results.map((_, at) => BigInt(at) * 10n),
    )
    assert.deepEqual(
      node.batches.map((batch) => batch.length),
      [99, 99, 99, 99, 54],
    )
  })

  it('fails as a whole when one call does', async () => {
    const node: RpcClient = {
      roundTrips: () => 0,
      batch: async (calls) => calls.map(() => ({ ok: false, code: 3, message: 'execution reverted', data: '0x' })),
    }
    const round = createCallRound(node, CHAINS.base.liveDiamond, '0x7')
    round.view('pairsCount', [])
    await assert.rejects(round.run(), NodeUnavailableError)
  })
})
