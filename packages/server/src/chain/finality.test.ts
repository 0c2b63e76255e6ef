import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { CHAIN_SLUGS } from '@bezel/protocol'
import fc from 'fast-check'
import { createFinality, depthFinality, parseFinality, type Finality } from './finality.ts'
import type { RpcOutcome } from './rpcClient.ts'

const HASH = `0x${'11'.repeat(32)}`

/** Returns a node's answer to the question for its final block. */
function tagged(number: number): RpcOutcome {
  const block = { number: `0x${number.toString(16)}`, hash: HASH, parentHash: HASH, timestamp: '0x1', transactions: [] }
  return { ok: true, result: { ...block, logsBloom: `0x${'00'.repeat(256)}` } }
}

const REFUSED: RpcOutcome = { ok: false, code: -32000, message: 'no such tag', data: undefined }

/** A chain's finality with a clock that the test moves. */
interface Timed {
  readonly finality: Finality
  readonly logged: string[]
  nowMs: number
}

function byTag(slug: 'arbitrum' | 'base' = 'base'): Timed {
  const timed = { nowMs: 1_000_000, logged: [] as string[] }
  const log = { warn: (_of: unknown, text: string) => timed.logged.push(text) } as never
  const finality = createFinality({ chain: { slug, finality: 'tag' }, now: () => timed.nowMs, log })
  return Object.assign(timed, { finality })
}

describe('finality by depth', () => {
  it('counts the blocks on top', () => {
    const { lastFinal, calls } = depthFinality(64)
    assert.deepEqual([lastFinal(100), lastFinal(64), lastFinal(63), lastFinal(0)], [36, 0, -1, -64])
    assert.deepEqual(calls(), [])
  })
})

describe('finality by the tag', () => {
  it('is the block that the node names', () => {
    const { finality } = byTag()
    finality.answered([tagged(5_000)])
    assert.equal(finality.lastFinal(5_600), 5_000)
    assert.equal(finality.lastFinal(5_700), 5_000)
    finality.answered([tagged(5_100)])
    assert.equal(finality.lastFinal(5_700), 5_100)
  })

  it('asks at once, then every few seconds', () => {
    const timed = byTag()
    const { finality } = timed
    const asked = finality.calls()
    assert.deepEqual(asked, [{ method: 'eth_getBlockByNumber', params: ['finalized', false] }])
    assert.equal(finality.calls().length, 1, 'again, while no answer came')
    finality.answered([tagged(7)])
    assert.deepEqual(finality.calls(), [])
    finality.answered([])
    timed.nowMs += 14_999
    assert.deepEqual(finality.calls(), [])
    timed.nowMs += 1
    assert.equal(finality.calls().length, 1)
  })

  it('believes no node that calls its newest blocks final', () => {
    const { finality } = byTag()
    for (const number of [1_000, 993, 2 ** 40]) {
      finality.answered([tagged(number)])
      assert.equal(finality.lastFinal(1_000), 992)
    }
    finality.answered([tagged(400)])
    assert.equal(finality.lastFinal(1_000), 400, 'a lie is over with the next true answer')
  })

  it('goes on without the tag, six hours behind', () => {
    const { finality } = byTag()
    assert.equal(finality.lastFinal(20_000), 20_000 - 10_800)
    finality.answered([tagged(100)])
    assert.equal(finality.lastFinal(20_000), 20_000 - 10_800)
    assert.equal(finality.lastFinal(500), 100)
    assert.equal(byTag('arbitrum').finality.lastFinal(86_400), 0)
  })

  it('keeps the last answer while the node refuses or garbles it, and tells the operator once', () => {
    const timed = byTag()
    const { finality, logged } = timed
    finality.answered([tagged(700)])
    for (const answer of [REFUSED, { ok: true, result: null }, { ok: true, result: { number: '7' } }] as const) {
      finality.answered([answer])
      assert.equal(finality.lastFinal(1_000), 700)
    }
    assert.deepEqual(logged, [])
    timed.nowMs += 60_001
    finality.answered([REFUSED])
    finality.answered([REFUSED])
    assert.match(logged.join(), /^the node names no finalized block: set finality[^,]+$/)
    finality.answered([tagged(710)])
    timed.nowMs += 60_001
    finality.answered([REFUSED])
    assert.equal(logged.length, 2)
  })

  it('lies within its bounds whatever a node answers', () => {
    const answer = fc.oneof(fc.nat(2 ** 40).map(tagged), fc.constant(REFUSED), fc.jsonValue().map(resultOf))
    fc.assert(
      fc.property(fc.array(answer, { maxLength: 20 }), fc.nat(2 ** 40), (answers, head) => {
        const { finality } = byTag()
        for (const one of answers) finality.answered([one])
        const final = finality.lastFinal(head)
        assert.ok(final <= head - 8 && final >= head - 10_800)
        assert.ok(finality.lastFinal(head + 1) >= final, 'and moves with the head only forward')
      }),
    )
  })
})

function resultOf(result: unknown): RpcOutcome {
  return { ok: true, result }
}

describe('parseFinality', () => {
  const read = (entry: object, slug: (typeof CHAIN_SLUGS)[number] = 'base') =>
    parseFinality(entry, { slug, isLive: false })

  it('reads the tag, blocks, and a time at the pace of the chain', () => {
    assert.equal(read({ finality: 'tag' }), 'tag')
    assert.deepEqual(read({ finality: { blocks: 12 } }), { blocks: 12 })
    assert.deepEqual(read({ finalityDepth: 12 }), { blocks: 12 })
    assert.deepEqual(read({ finality: { seconds: 61 } }), { blocks: 31 })
    assert.deepEqual(read({ finality: { seconds: 61 } }, 'arbitrum'), { blocks: 244 })
    assert.deepEqual(read({ finality: { seconds: 1 } }), { blocks: 1 })
  })

  it('is 64 blocks on a local chain, and the rule of the live chain for a live Diamond', () => {
    for (const slug of CHAIN_SLUGS) assert.deepEqual(read({}, slug), { blocks: 64 })
    const live = CHAIN_SLUGS.map((slug) => parseFinality({}, { slug, isLive: true }))
    assert.deepEqual(live, ['tag', 'tag', 'tag', { blocks: 3_600 }, 'tag'])
  })

  it('reads nothing else', () => {
    const wrong = ['latest', '', 64, null, [], {}, [5], { blocks: 0 }, { blocks: 1.5 }, { blocks: '5' }, { hours: 1 }]
    for (const finality of wrong) assert.equal(read({ finality }), undefined, JSON.stringify(finality))
    assert.equal(read({ finality: { blocks: 5, seconds: 5 } }), undefined)
    assert.equal(read({ finality: 'tag', finalityDepth: 5 }), undefined)
    for (const finalityDepth of [0, -1, '64', null, {}]) assert.equal(read({ finalityDepth }), undefined)
  })
})
