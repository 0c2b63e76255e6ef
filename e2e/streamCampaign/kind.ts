import type { SigningDomain } from '@bezel/protocol'
import type { PrivateKeyAccount } from 'viem/accounts'
import type { SeededRandom } from '../campaign/seededRandom.ts'

/** Where hostile clients are, and what they know. */
export interface Ground {
  readonly url: string
  readonly random: SeededRandom
  readonly markets: readonly string[]
  readonly domain: SigningDomain
  /** Registered and delegated, as any customer's can be. */
  readonly agent: PrivateKeyAccount
}

/** One life of one hostile client: from its connection to what it was told at the end, as words that are held against `KINDS`. */
export type Life = (ground: Ground) => Promise<Iterable<string>>

/** A way to be hostile. */
export interface Kind {
  readonly live: Life
  /** How many clients do so at a time, each again and again. */
  readonly clients: number
  /** Between two lives of one client. */
  readonly pauseMs: number
  /** The words that a life may end with. */
  readonly ends: readonly string[]
  /** How long a campaign must be to see one of these ends. */
  readonly shownAfterMs: number
}

/** How often each kind ended with which words. */
export type Ends = Readonly<Record<string, Readonly<Record<string, number>>>>
