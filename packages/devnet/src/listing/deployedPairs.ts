import { PAIRS, type ListedPair } from './pairs.ts'

/** What `addPairs` and `setPairCustomMaxLeverages` need for one index. */
export interface DeployedPair extends Pick<
  ListedPair,
  'index' | 'from' | 'to' | 'groupIndex' | 'feeIndex' | 'spreadP'
> {
  /** 1e3; 0 means the group's own maximum. */
  readonly customMaxLeverage: bigint
  readonly listed: boolean
}

/** 0.001x is below every group's minimum: how the live Diamond closes a pair to new trades. */
const CLOSED_MAX_LEVERAGE = 1n

/**
 * One pair for each index from 0 to the last listed one. The contract only appends pairs, and the live indices have holes (pairs that
 * were taken off), so each hole is filled with a pair nobody can open.
 */
export function deployedPairs(listed: readonly ListedPair[] = PAIRS): readonly DeployedPair[] {
  const byIndex = new Map(listed.map((pair) => [pair.index, pair]))
  const count = Math.max(...byIndex.keys()) + 1
  return Array.from({ length: count }, (_, index) => {
    const pair = byIndex.get(index)
    return pair === undefined ? delistedPair(index) : { ...deployable(pair), customMaxLeverage: 0n, listed: true }
  })
}

function deployable({ index, from, to, groupIndex, feeIndex, spreadP }: ListedPair) {
  return { index, from, to, groupIndex, feeIndex, spreadP }
}

function delistedPair(index: number): DeployedPair {
  return {
    index,
    from: `DELISTED${index}`,
    to: 'USD',
    groupIndex: 10,
    feeIndex: 0,
    spreadP: 0n,
    customMaxLeverage: CLOSED_MAX_LEVERAGE,
    listed: false,
  }
}
