import type { UsedNonce } from '../../store/usedNonce.ts'
import type { Address } from '@bezel/protocol'
import { NONCE_KEPT_MS } from './nonceWindow.ts'

/** Used nonces in memory. */
export interface UsedNonces {
  readonly size: number
  /** No nonce up to this time is remembered any more, so none is free, wherever the clock moves to. */
  readonly forgottenUpToMs: number
  has(used: UsedNonce): boolean
  add(used: UsedNonce): void
  /** Lets go of nonces that have left the window. */
  forget(nowMs: number): void
}

/** Nonces of the same span are forgotten together, which costs nothing per nonce. */
const SPAN_MS = 5_000

/** A nonce is a time, so the span it falls into is known, and expired ones go as whole spans. */
export function createUsedNonces(loaded: Iterable<UsedNonce>, forgottenUpToMs: number): UsedNonces {
  const spans = new Map<number, Set<string>>()
  let forgottenMs = forgottenUpToMs
  let size = 0

  function add({ signer, nonce }: UsedNonce): void {
    const span = spans.get(spanOf(nonce)) ?? new Set()
    spans.set(spanOf(nonce), span)
    const before = span.size
    size += span.add(keyOf(signer, nonce)).size - before
  }

  for (const used of loaded) add(used)
  return {
    get size() {
      return size
    },
    get forgottenUpToMs() {
      return forgottenMs
    },
    has: ({ signer, nonce }) => nonce <= forgottenMs || spans.get(spanOf(nonce))?.has(keyOf(signer, nonce)) === true,
    add,
    forget(nowMs) {
      for (const [span, keys] of spans) {
        const lastMs = (span + 1) * SPAN_MS - 1
        if (lastMs >= nowMs - NONCE_KEPT_MS) continue
        spans.delete(span)
        size -= keys.size
        forgottenMs = Math.max(forgottenMs, lastMs)
      }
    },
  }
}

function spanOf(nonce: number): number {
  return Math.floor(nonce / SPAN_MS)
}

function keyOf(signer: Address, nonce: number): string {
  return `${signer} ${nonce}`
}
