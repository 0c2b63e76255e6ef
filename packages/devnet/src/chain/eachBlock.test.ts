import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { MinedBlock } from './block.ts'
import { eachBlock } from './eachBlock.ts'

/** Fakes a chain that has only blocks, which the test mints. */
function fakeHeads() {
  const listeners = new Set<(block: MinedBlock) => void>()
  const chain = {
    onBlock(listener: (block: MinedBlock) => void) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
  const mint = (number: number) => listeners.forEach((listener) => listener({ number } as MinedBlock))
  return { chain, mint, listeners }
}

const settled = () => new Promise((resolve) => setImmediate(resolve))

const failed = (error: unknown): never => assert.fail(String(error))

describe('eachBlock', () => {
  it('takes the blocks that came during a run together in the next one', async () => {
    const { chain, mint } = fakeHeads()
    const runs: number[][] = []
    const gate = Promise.withResolvers<void>()
    eachBlock(
      chain,
      async (blocks) => {
        runs.push(blocks.map(({ number }) => number))
        await gate.promise
      },
      failed,
    )
    for (const number of [1, 2, 3]) mint(number)
    gate.resolve()
    await settled()
    assert.deepEqual(runs, [[1], [2, 3]])
  })

  it('gives the blocks of a failed run to the next one and reports the failure', async () => {
    const { chain, mint } = fakeHeads()
    const runs: number[][] = []
    const reported: unknown[] = []
    const work = eachBlock(
      chain,
      async (blocks) => {
        runs.push(blocks.map(({ number }) => number))
        if (runs.length === 1) throw new Error('node away')
      },
      (error) => reported.push(error),
    )
    mint(1)
    await settled()
    work.wake()
    await settled()
    assert.deepEqual(runs, [[1], [1]])
    assert.equal(reported.length, 1)
  })

  it('ends: it waits for the run under way and follows the chain no more', async () => {
    const { chain, mint, listeners } = fakeHeads()
    const gate = Promise.withResolvers<void>()
    let ended = false
    const work = eachBlock(chain, () => gate.promise.then(() => void (ended = true)), failed)
    mint(1)
    const stopped = work.stop()
    gate.resolve()
    await stopped
    assert.ok(ended)
    assert.equal(listeners.size, 0)
  })
})
