import type { FollowedBlock } from '../store/blockStore.ts'

/** Thrown when the stored cursor is not where this follower left it: somebody else follows the chain as well. */
export class CursorMovedError extends Error {
  override readonly name = 'CursorMovedError'
}

/**
 * Throws a `CursorMovedError` when the stored cursor is another block than the follower expects. Called inside the
 * transaction that moves it, so that no block is applied or undone twice.
 */
export function requireHead(expected: FollowedBlock | undefined, stored: FollowedBlock | undefined): void {
  if (expected?.hash === stored?.hash && expected?.number === stored?.number) return
  throw new CursorMovedError(
    `The cursor is at ${nameOf(stored)} and was expected at ${nameOf(expected)}: another process follows this chain with the same store. It is read again.`,
  )
}

function nameOf(block: FollowedBlock | undefined): string {
  return block === undefined ? 'no block' : `block ${block.number} (${block.hash})`
}
