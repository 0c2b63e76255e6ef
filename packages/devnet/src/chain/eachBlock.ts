import type { MinedBlock } from './block.ts'
import type { LocalChain } from './createLocalChain.ts'

/** Work that follows the head of a chain. */
export interface BlockWork {
  /** Runs it again soon, without waiting for a block. */
  wake(): void
  /** Ends it and waits for what is under way. */
  stop(): Promise<void>
}

/**
 * Runs `work` after each block, never twice at once: blocks that come while it runs are taken together in the next run. A run that
 * fails is reported, and its blocks are given to the next one again, so that nothing is missed.
 */
export function eachBlock(
  chain: LocalChain,
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
