import type { RelayContext, RelayMemory } from './relayContext.ts'

/** The newest block that is never undone, as far as both the follower and the node know; negative when there is none. */
export function finalBlock({ chain, head }: RelayContext, { nodeHead }: RelayMemory): number {
  return Math.min(nodeHead, head()?.number ?? -1) - chain.finalityDepth
}
