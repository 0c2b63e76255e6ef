import { NodeUnavailableError } from '../ground/unavailable.ts'
import type { ChainSlug } from '@bezel/protocol'
import type { FastifyBaseLogger } from 'fastify'
import { ReorgTooDeepError, type Following } from './createFollowing.ts'

/** Why what is known of the chain can't be relied on. */
export type FollowerReason = 'starting' | 'chain_lagging' | 'reorg_too_deep'

/** Whether following goes well, and who is told when it does not. */
export interface FollowerHealth {
  reason(): FollowerReason | undefined
  /** A look at the node went well; `isMore`: it is not caught up yet. */
  succeeded(isMore: boolean): void
  failed(error: unknown): void
  /** Failures since the last success. */
  failures(): number
}

export interface FollowerHealthOptions {
  readonly chain: ChainSlug
  readonly following: Pick<Following, 'head' | 'stats'>
  readonly now: () => number
  readonly log: Pick<FastifyBaseLogger, 'info' | 'warn' | 'error'>
}

/** How long the node may not answer. */
const MAX_SILENCE_MS = 10_000
/** How far behind the node's head is too far. */
const MAX_LAG_BLOCKS = 50

/**
 * Lag is judged by what the node answers, never by the time of its blocks. Whether the chain stands still or only the node's view of it can't be
 * told from here, so a node that answers with the same head for long is believed.
 */
export function createFollowerHealth({ chain, following, now, log }: FollowerHealthOptions): FollowerHealth {
  let isCaughtUp = false
  let isTooDeep = false
  let failures = 0
  let goodAtMs = now()

  return {
    reason() {
      if (isTooDeep) return 'reorg_too_deep'
      if (!isCaughtUp) return 'starting'
      const isSilent = now() - goodAtMs > MAX_SILENCE_MS
      return isSilent || following.stats().lagBlocks > MAX_LAG_BLOCKS ? 'chain_lagging' : undefined
    },
    succeeded(isMore) {
      if (failures > 0) log.info({ chain, failures }, 'the chain is followed again')
      failures = 0
      isTooDeep = false
      goodAtMs = now()
      if (isMore || isCaughtUp) return
      isCaughtUp = true
      log.info({ chain, block: following.head()?.number }, 'the chain is followed')
    },
    failed(error) {
      // Told once, until it works again; what only an operator can heal is told as soon as it comes.
      const isNews = failures === 0 || (error instanceof ReorgTooDeepError && !isTooDeep)
      isTooDeep = error instanceof ReorgTooDeepError
      failures += 1
      if (!isNews) return
      const level = error instanceof NodeUnavailableError ? 'warn' : 'error'
      log[level]({ chain, block: following.head()?.number, err: error }, 'the chain could not be followed')
    },
    failures: () => failures,
  }
}
