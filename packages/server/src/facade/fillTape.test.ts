import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createRowMeter } from '../access/weights.ts'
import { parseAddress, type Hex } from '@bezel/protocol'
import fc from 'fast-check'
import { deleteFills, insertFill } from '../store/fillStore.ts'
import { migrate } from '../store/openStore.ts'
import { sampleFill } from '../store/testing/sampleFill.ts'
import { openTestStore, type TestStore } from '../store/testing/testStore.ts'
import { createFillTapes } from './fillTape.ts'
import { TEST_SCOPE } from '../store/testing/testScope.ts'

const ALICE = parseAddress(`0x${'aa'.repeat(20)}`)!

/** A block of the model, with the ids of its fills. */
interface Block {
  readonly hash: Hex
  readonly ids: readonly number[]
}

/** Something that happens between two looks: blocks are undone, then some are added, each with that many fills. */
const step = fc.record({
  undone: fc.integer({ min: 0, max: 3 }),
  added: fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 4 }),
  isAsked: fc.boolean(),
})

describe('the tape of a trader', () => {
  it('is the history in the store, however blocks come and go between two looks', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
        const opened = openTestStore()
        try {
          await migrate(opened.store)
          await follow(opened, steps)
        } finally {
          await opened.remove()
        }
      }),
      { numRuns: 40 },
    )
  })

  it('charges whoever has it read for each page after the first, and nobody afterwards', async () => {
    const opened = openTestStore()
    await migrate(opened.store)
    const ids = Array.from({ length: 1_300 }, (_, at) => at + 1)
    await store(opened, 1, `0x${'1'.repeat(64)}` as Hex, ids)
    const tapes = createFillTapes(opened.store, 'base')
    let charged = 0
    const meter = createRowMeter((weight) => void (charged += weight))
    const refusing = createRowMeter(() => {
      throw new Error('no more')
    })
    await meter.add(1)
    await refusing.add(1)
    await assert.rejects(tapes.of(ALICE, refusing), /no more/)
    assert.equal((await tapes.of(ALICE, meter)).length, 1_300)
    assert.equal(charged, 2)
    assert.equal((await tapes.of(ALICE, refusing)).length, 1_300)
    await opened.remove()
  })

  it('answers callers that come together with what each could know', async () => {
    const opened = openTestStore()
    await migrate(opened.store)
    const tapes = createFillTapes(opened.store, 'base')
    const first = tapes.of(ALICE)
    await store(opened, 1, `0x${'1'.repeat(64)}` as Hex, [7])
    const [before, after] = await Promise.all([first, tapes.of(ALICE)])
    assert.ok(before.length <= 1)
    assert.deepEqual(
      after.map(({ id }) => id),
      [7],
    )
    await opened.remove()
  })
})

async function follow(
  opened: TestStore,
  steps: readonly { readonly undone: number; readonly added: readonly number[]; readonly isAsked: boolean }[],
): Promise<void> {
  const tapes = createFillTapes(opened.store, 'base')
  const blocks: Block[] = []
  let nextId = 1
  for (const { undone, added, isAsked } of steps) {
    for (const { hash } of blocks.splice(Math.max(0, blocks.length - undone))) {
      await opened.store.transaction(TEST_SCOPE, (sql) => deleteFills(sql, 'base', hash))
    }
    for (const count of added) {
      const hash = `0x${nextId.toString(16).padStart(32, '0')}${blocks.length.toString(16).padStart(32, '0')}` as Hex
      const ids = Array.from({ length: count }, () => nextId++)
      await store(opened, blocks.length + 1, hash, ids)
      blocks.push({ hash, ids })
      nextId += 1
    }
    const told = isAsked ? (await tapes.of(ALICE)).map(({ id }) => id) : undefined
    if (told !== undefined)
      assert.deepEqual(
        told,
        blocks.flatMap(({ ids }) => ids),
      )
  }
}

async function store(
  { store: at }: TestStore,
  blockNumber: number,
  blockHash: Hex,
  ids: readonly number[],
): Promise<void> {
  await at.transaction(TEST_SCOPE, async (sql) => {
    for (const [logIndex, id] of ids.entries()) {
      const place = { blockHash, blockNumber, logIndex, txHash: blockHash, timestampMs: blockNumber * 1_000 }
      await insertFill(sql, { chain: 'base', trader: ALICE, pairIndex: 0, place, fill: sampleFill(id) })
    }
  })
}
