import { parseHeader, type RpcHeader } from '../chain/blocks.ts'
import { NodeUnavailableError } from '../ground/unavailable.ts'

/** A head that a node pushed; `unreadable` where it lacks a field, so that it only says that there is news. */
export type PushedHead = RpcHeader | 'unreadable'

/** Queue of the heads that a node pushed and that were not followed yet. */
export interface PushedHeads {
  /** Returns true while the node pushes heads. */
  isUp(): boolean
  /** Takes the oldest head out of the queue; `undefined` when there is none. */
  take(): PushedHead | undefined
  /** Drops all heads: a read of the node's newest block covers them. */
  clear(): void
  /** Notes that a look found a block of which no head may have come. */
  missed(): void
}

/** The number of heads that wait to be followed. After more of them the node is asked instead. */
const MAX_HEADS = 64

/** The number of looks in a row that found blocks without a head before them, after which a subscription is dead. */
const SILENT_LOOKS = 3

/** Makes a queue. `isUp` says whether the node pushes heads, `onSilent` is told when it does not although it is up. */
export function createPushedHeads(
  isUp: () => boolean,
  onSilent: () => void = () => undefined,
): PushedHeads & { push(head: PushedHead): void } {
  let heads: PushedHead[] = []
  let silentLooks = 0
  return {
    isUp,
    push(head) {
      silentLooks = 0
      // A queue that has run full has a gap, and one that is unreadable too: the node is asked for both.
      heads = heads.length < MAX_HEADS ? [...heads, head] : ['unreadable']
    },
    take: () => heads.shift(),
    clear() {
      heads = []
    },
    missed() {
      silentLooks += 1
      if (silentLooks < SILENT_LOOKS) return
      silentLooks = 0
      onSilent()
    },
  }
}

/** The heads of a chain without a WebSocket. */
export const NO_HEADS: PushedHeads = {
  isUp: () => false,
  take: () => undefined,
  clear: () => undefined,
  missed: () => undefined,
}

/**
 * Reads a message of a socket that is subscribed to heads: a head, or the answer to the subscription, which is as good
 * as an unreadable head. Returns `undefined` for an error and for what is no message: the node then is polled.
 */
export function parseHeadMessage(text: string): PushedHead | undefined {
  let message: unknown
  try {
    message = JSON.parse(text)
  } catch {
    return undefined
  }
  if (typeof message !== 'object' || message === null || 'error' in message) return undefined
  const { params } = message as { readonly params?: { readonly result?: unknown } | null }
  try {
    return parseHeader(params?.result)
  } catch (error) {
    if (error instanceof NodeUnavailableError) return 'unreadable'
    throw error
  }
}
