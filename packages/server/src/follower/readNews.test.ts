import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { numberToHex } from 'viem'
import { depthFinality } from '../chain/finality.ts'
import type { RpcCall, RpcClient } from '../chain/rpcClient.ts'
import { createLogRange } from './logParts.ts'
import { readNews, type FollowedNode } from './readNews.ts'
import type { WitnessedClient } from './secondWitness.ts'
import { createFakeNode, type FakeNode } from './testing/fakeNode.ts'
import { SERVED } from './testing/followedFake.ts'

/** A node of some blocks without logs. */
function nodeOf(blocks: number): FakeNode {
  const node = createFakeNode(SERVED.diamond, SERVED.chainId)
  for (let i = 0; i < blocks; i += 1) node.mine()
  return node
}

function followedBy(client: WitnessedClient, ranges: readonly [number | undefined, number | undefined]): FollowedNode {
  const [logRange, secondRange] = ranges.map((blocks) => createLogRange({ logRange: () => blocks }, () => 0))
  const others = { chain: SERVED, finality: depthFinality(16), mayHaveLogs: () => true }
  return { client, ...others, logRange: logRange!, secondRange: secondRange! }
}

describe('a look at a node whose plan gives the logs of few blocks at once', () => {
  it('asks for no parts up to a newest block that is wrong', async () => {
    const node = nodeOf(3)
    const [header] = await node.client.batch([{ method: 'eth_getBlockByNumber', params: ['latest', false] }])
    assert.ok(header?.ok)
    const asked: RpcCall[] = []
    const client: RpcClient = {
      ...node.client,
      batch: async (calls) => {
        asked.push(...calls)
        return node.client.batch(calls)
      },
    }
    const followed = followedBy(client, [10, undefined])
    for (const far of [3_000, 2 ** 40]) {
      node.lies.set('eth_getBlockByNumber', { ...(header.result as object), number: numberToHex(far) })
      asked.length = 0
      const { newest, logs, isHeard } = await readNews(followed, { ownNumber: 2, logsFrom: 2, awaited: [] })
      assert.deepEqual([newest.block.number, logs, isHeard], [far, undefined, false])
      assert.deepEqual(
        asked.map(({ method }) => method),
        ['eth_getBlockByNumber', 'eth_getBlockByNumber'],
      )
    }
  })
})

describe('a second provider whose plan gives the logs of few blocks at once', () => {
  /** Looks at 41 blocks some times. Returns the widths of the questions to the second one, by look. */
  async function looks(count: number, setting: number | undefined, plan = 10): Promise<number[][]> {
    const node = nodeOf(42)
    node.maxRange = plan
    const asked: number[] = []
    const wide = nodeOf(42)
    const client: WitnessedClient = {
      ...wide.client,
      async second(calls) {
        for (const { params } of calls) {
          const { fromBlock, toBlock } = params[0] as { readonly fromBlock: string; readonly toBlock: string }
          asked.push(toBlock === 'latest' ? Infinity : Number(toBlock) - Number(fromBlock) + 1)
        }
        return node.client.batch(calls)
      },
    }
    const followed = followedBy(client, [undefined, setting])
    const looked: number[][] = []
    for (let look = 0; look < count; look += 1) {
      const { isHeard } = await readNews(followed, { ownNumber: 1, logsFrom: 1, awaited: [] })
      assert.equal(isHeard, plan >= 10)
      looked.push(asked.splice(0))
    }
    return looked
  }

  it('is asked in parts from the first look on where the setting says so', async () => {
    assert.deepEqual(await looks(2, 10), [
      [10, 10, 10, 10, 1],
      [10, 10, 10, 10, 1],
    ])
  })

  it('is asked in parts at once when it has refused some', async () => {
    const parts = [10, 10, 10, 10, 1]
    assert.deepEqual(await looks(3, undefined), [[Infinity, ...parts], [20, 20, 1, ...parts], parts])
  })

  it('is asked once a look where it refuses the smallest parts too', async () => {
    assert.deepEqual((await looks(2, 10, 1))[1], [10, 10, 10, 10, 1])
  })

  it('is asked for no parts up to a newest block that is wrong', async () => {
    const node = nodeOf(3)
    const [header] = await node.client.batch([{ method: 'eth_getBlockByNumber', params: ['latest', false] }])
    assert.ok(header?.ok)
    node.lies.set('eth_getBlockByNumber', { ...(header.result as object), number: numberToHex(2 ** 40) })
    const asked: RpcCall[] = []
    const second: WitnessedClient['second'] = async (calls) => {
      asked.push(...calls)
      return node.client.batch(calls)
    }
    await readNews(followedBy({ ...node.client, second }, [undefined, 10]), { ownNumber: 2, logsFrom: 2, awaited: [] })
    assert.equal(asked.length, 1)
  })
})
