import type { SigningDomain } from '@bezel/protocol'
import type { PrivateKeyAccount } from 'viem/accounts'
import type { SeededRandom } from '@bezel/testkit/seededRandom.ts'

/** The environment of the hostile clients. */
export interface Ground {
  readonly url: string
  readonly random: SeededRandom
  readonly markets: readonly string[]
  readonly domain: SigningDomain
  /** An agent that is registered and delegated, as any customer's can be. */
  readonly agent: PrivateKeyAccount
}

/**
 * One run of one hostile client, from its connection to its end. Returns the answers as words, which are compared with
 * `KINDS`.
 */
export type Life = (ground: Ground) => Promise<Iterable<string>>

/** A way to be hostile. */
export interface Kind {
  readonly live: Life
  /** The number of parallel clients, each of which repeats its run. */
  readonly clients: number
  /** Time between two runs of one client. */
  readonly pauseMs: number
  /** The words that a run may end with. */
  readonly ends: readonly string[]
  /** Duration from which on a run with another end counts as starved; absent for kinds that wait on purpose. */
  readonly starvedAfterMs?: number
  /** Length of a campaign from which on one of these ends must be seen. */
  readonly shownAfterMs: number
}

/**
 * The end of a run that got no processor for so long that the service's time limits ended it: 10 s for a request, 30 s
 * for a timestamp. Such a run tells nothing about the service.
 */
export const STARVED = 'starved'

/** The number of runs by kind and end. */
export type Ends = Readonly<Record<string, Readonly<Record<string, number>>>>
