import type { Address } from 'viem'

/** An order, or a new size of one, that an envelope asked for. Its size is its own among all of its trader, so the chain alone tells what became of it. */
export interface AskedOpen {
  readonly trader: Address
  /** Base units at 1e5. */
  readonly units: number
  readonly cloid: string | null
  /** USD, where it was asked with triggers. */
  readonly tp: string | null
  readonly sl: string | null
  /** What answers said of it, in the order they came. */
  readonly told: Told[]
  /** An envelope that asked for it was never answered: anything told later may speak of a repetition. */
  isLost: boolean
}

/** Of one order: a text is why it was refused. */
export type Told = 'resting' | 'filled' | 'pending' | { readonly error: string }

/** A signed envelope, byte for byte, so that it can be sent again. */
export interface SentEnvelope {
  readonly body: string
  readonly nonce: number
  readonly type: string
}

/** What the traders saw: the measure of what the service and the chain must know at the end. */
export interface EnvelopeJournal {
  /** What went wrong. The campaign fails when there is any. */
  readonly problems: string[]
  readonly counts: Map<string, number>
  readonly opens: AskedOpen[]
  /** Orders and triggers that an answer named, with the last envelope that did. */
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
