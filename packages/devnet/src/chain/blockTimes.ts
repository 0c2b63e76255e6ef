import type { LocalChain } from './createLocalChain.ts'

/** Older blocks are only known by their own second. About an hour of blocks. */
const MAX_REMEMBERED_BLOCKS = 16_384

/** When blocks came into being, in wall time. */
export interface BlockTimes {
  /** Milliseconds. Finer than a block's own timestamp, and not moved by evm_increaseTime. */
  mintedAtMs(blockNumber: number): number | undefined
}

/** Starts to remember; blocks from before are unknown. */
export function rememberBlockTimes(chain: LocalChain, now: () => number): BlockTimes {
  const mintedAtMs = new Map<number, number>()
  chain.onBlock(({ number }) => {
    mintedAtMs.set(number, now())
    mintedAtMs.delete(number - MAX_REMEMBERED_BLOCKS)
  })
  return { mintedAtMs: (blockNumber) => mintedAtMs.get(blockNumber) }
}
