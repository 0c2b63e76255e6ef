import type { MinedBlock } from './block.ts'
import type { LocalChain } from './createLocalChain.ts'

/** Work that follows the head of a chain. */
interface BlockWork {
  /** Runs the work again soon, without waiting for a block. */
  wake(): void
  /** Ends the work and waits for what is under way. */
  stop(): Promise<void>
}

/**
 * Runs `work` after each block, never twice at once: blocks that arrive during a run are handed over together in the
 * next one. A failed run is reported, and its blocks are handed over again, so that none is missed.
 */
export function eachBlock(
  chain: Pick<LocalChain, 'onBlock'>,
  work: (blocks: readonly MinedBlock[]) => Promise<void>,
  report: (error: unknown) => void,
): BlockWork {
  let waiting: MinedBlock[] = []
  let running: Promise<void> | undefined
  let isDue = false
  let stopped = false

  const isWanted = (): boolean => isDue && !stopped

  async function run(): Promise<void> {
    while (isWanted()) {
      isDue = false
      const blocks = waiting
      waiting = []
      try {
        await work(blocks)
      } catch (error) {
        waiting.unshift(...blocks)
        if (!stopped) report(error)
      }
    }
    running = undefined
  }

  function wake(): void {
    isDue = true
    running ??= run()
  }

  const unsubscribe = chain.onBlock((block) => {
    waiting.push(block)
    wake()
  })
  return {
    wake,
    async stop() {
      stopped = true
      unsubscribe()
      await running
    },
  }
}

/** The wall time at which blocks were mined. */
export interface BlockTimes {
  /**
   * Returns the wall time of a block in milliseconds: finer than the block's own timestamp, and not moved by
   * evm_increaseTime.
   */
  mintedAtMs(blockNumber: number): number | undefined
}

/** Number of remembered blocks, about an hour. Older ones are known by their own second only. */
const MAX_REMEMBERED_BLOCKS = 16_384

/** Starts to remember block times. Earlier blocks are unknown. */
export function rememberBlockTimes(chain: LocalChain, now: () => number): BlockTimes {
  const mintedAtMs = new Map<number, number>()
  chain.onBlock(({ number }) => {
    mintedAtMs.set(number, now())
    mintedAtMs.delete(number - MAX_REMEMBERED_BLOCKS)
  })
  return { mintedAtMs: (blockNumber) => mintedAtMs.get(blockNumber) }
}
