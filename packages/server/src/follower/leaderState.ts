import type { DiamondWatch } from '../chain/diamondWatch.ts'
import type { Follower } from './startFollower.ts'

/** The state that the node which follows a chain tells all others, because only whoever reads the blocks can see it. */
export interface LeaderState {
  /** True when the chain was reorganised deeper than can be undone. */
  readonly isTooDeep: boolean
  /** True when the contracts have changed in a way that is not known. */
  readonly isDiamondChanged: boolean
  readonly diamondWarning: string | undefined
}

/** Returns the state as text for the lease of the follower. */
export function tellState(
  follower: Pick<Follower, 'reason'>,
  diamond: Pick<DiamondWatch, 'reason' | 'warning'>,
): string {
  const state: LeaderState = {
    isTooDeep: follower.reason() === 'reorg_too_deep',
    isDiamondChanged: diamond.reason() === 'diamond_changed',
    diamondWarning: diamond.warning(),
  }
  return JSON.stringify(state)
}

/** Reads what the leader told; `undefined` while there is nothing. */
export function parseTold(told: string): LeaderState | undefined {
  return told === '' ? undefined : (JSON.parse(told) as LeaderState)
}

/** Returns a watch that also knows what the node that follows the chain saw. */
export function withLeader(
  watch: DiamondWatch,
  follower: { readonly leaderState?: () => LeaderState | undefined },
): DiamondWatch {
  const told = (): LeaderState | undefined => follower.leaderState?.()
  return {
    ...watch,
    reason: () => watch.reason() ?? (told()?.isDiamondChanged === true ? 'diamond_changed' : undefined),
    warning: () => watch.warning() ?? told()?.diamondWarning,
  }
}
