import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { parseAddress } from '@bezel/protocol'
import type { RpcClient } from '../chain/rpcClient.ts'
import { NodeUnavailableError } from '../ground/unavailable.ts'
import { createLogRange, hasParts, readLogParts } from './logParts.ts'
import { createFakeNode } from './testing/fakeNode.ts'
import { SERVED } from './testing/followedFake.ts'
import { BOB, requested } from './testing/handMade.ts'

const DIAMOND = parseAddress('0x00000000000000000000000000000000000000d1')!
const TRY_AGAIN_MS = 10 * 60_000

/** A node whose plan allows so many blocks of one question, and the number of blocks that each question was for. */
function nodeOf(plan: { blocks: number }) {
  const asked: number[][] = []
  const client: RpcClient = {
    async batch(calls) {
      const widths = calls.map(({ params }) => {
        const { fromBlock, toBlock } = params[0] as { readonly fromBlock: string; readonly toBlock: string }
        return Number(toBlock) - Number(fromBlock) + 1
      })
      asked.push(widths)
      return widths.map((width) =>
        width <= plan.blocks
          ? { ok: true, result: [] }
          : { ok: false, code: -32005, message: 'too many blocks', data: undefined },
      )
    },
    roundTrips: () => 0,
  }
  return { client, asked }
}

const span = (blocks: number) => ({ from: 1_000, to: 999 + blocks })

describe('logs that are asked for in parts', () => {
  it('come in as few as the provider takes, which is learnt and tried again', async () => {
    const plan = { blocks: 100 }
    const { client, asked } = nodeOf(plan)
    let nowMs = 0
    const range = createLogRange({}, () => nowMs)
    const read = async (blocks: number): Promise<number[][]> => {
      asked.length = 0
      assert.deepEqual(await readLogParts(client, DIAMOND, { span: span(blocks), range }), [])
      return [...asked]
    }
    assert.deepEqual(await read(128), [[128], [100, 28]], 'blocks of a long silence of the second provider')
    assert.deepEqual(await read(128), [[100, 28]])
    plan.blocks = 10
    assert.deepEqual(await read(41), [[41], [20, 20, 1], [10, 10, 10, 10, 1]])
    assert.deepEqual(await read(41), [[10, 10, 10, 10, 1]])
    plan.blocks = 1_000
    nowMs += TRY_AGAIN_MS
    assert.deepEqual(await read(41), [[20, 20, 1]])
  })

  it('are asked for no more where the smallest parts are refused too', async () => {
    const { client, asked } = nodeOf({ blocks: 0 })
    const range = createLogRange({}, () => 0)
    assert.equal(await readLogParts(client, DIAMOND, { span: span(41), range }), undefined)
    assert.deepEqual(
      asked.map(([width]) => width),
      [41, 20, 10],
    )
  })

  it('are those of the setting from the first question on', async () => {
    const { client, asked } = nodeOf({ blocks: 5 })
    const range = createLogRange({ logRange: () => 5 }, () => 0)
    assert.ok(range.isNarrow())
    assert.deepEqual(await readLogParts(client, DIAMOND, { span: span(12), range }), [])
    assert.deepEqual(asked, [[5, 5, 2]])
    assert.ok(!createLogRange({ logRange: () => 2_000 }, () => 0).isNarrow())
  })

  it('are of no use when the node passes over where one ends, so that two of them have the same log', async () => {
    const node = createFakeNode(SERVED.diamond, SERVED.chainId)
    for (let i = 0; i < 30; i += 1) node.mine({ from: BOB, events: [requested({ index: i })] })
    const range = createLogRange({ logRange: () => 10 }, () => 0)
    const client: RpcClient = {
      ...node.client,
      batch: (calls) =>
        node.client.batch(
          calls.map(({ method, params }) => ({ method, params: [{ ...(params[0] as object), toBlock: 'latest' }] })),
        ),
    }
    const read = (from: RpcClient, to: number) => readLogParts(from, SERVED.diamond, { span: { from: 5, to }, range })
    assert.equal((await read(node.client, 24))?.length, 20)
    await assert.rejects(read(client, 24), NodeUnavailableError)
  })

  it('are of spans that one look may have', () => {
    assert.deepEqual([10, 11, 128 + 64, 1_000].map(span).map(hasParts), [false, true, true, false])
  })
})
