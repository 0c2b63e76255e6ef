import type { Address } from 'viem'

/**
 * An order, or a new size of one, that an envelope asked for. No other order of its trader has this size, so the chain
 * alone shows its outcome.
 */
export interface AskedOpen {
  readonly trader: Address
  /** The size in base units, scaled by 1e5. */
  readonly units: number
  readonly cloid: string | null
  /** The take profit in USD, when one was asked for. */
  readonly tp: string | null
  readonly sl: string | null
  /** The outcomes that answers reported, in their order. */
  readonly told: Told[]
  /** True when an envelope with this order was never answered: later answers may be about a repetition. */
  isLost: boolean
}

/** The reported outcome of one order; `error` is the reason of a refusal. */
export type Told = 'resting' | 'filled' | 'pending' | { readonly error: string }

/** A signed envelope, byte for byte, so that it can be sent again. */
export interface SentEnvelope {
  readonly body: string
  readonly nonce: number
  readonly type: string
}

/** Everything that the traders saw: the reference for what the service and the chain must know at the end. */
export interface EnvelopeJournal {
  /** Everything that went wrong. Any entry fails the campaign. */
  readonly problems: string[]
  readonly counts: Map<string, number>
  readonly opens: AskedOpen[]
  /** Orders and triggers that an answer named, with the last envelope whose answer did. */
  readonly oids: Map<number, SentEnvelope>
  /** Orders whose cancel was answered with success. */
  readonly cancelled: Set<number>
  /** Envelopes whose nonce is used up, newest last. */
  readonly answered: SentEnvelope[]
  count(what: string): void
}

export function createEnvelopeJournal(): EnvelopeJournal {
  const counts = new Map<string, number>()
  return {
    problems: [],
    counts,
    opens: [],
    oids: new Map(),
    cancelled: new Set(),
    answered: [],
    count: (what) => void counts.set(what, (counts.get(what) ?? 0) + 1),
  }
}
