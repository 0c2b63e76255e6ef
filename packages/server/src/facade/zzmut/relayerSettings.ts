import type { ChainSlug } from '@bezel/protocol'

/** Every setting of a chain's relayer. Wei of the chain's native token. */
export interface RelayerSettings {
  /** Gas that one trader's actions may cost on a UTC day. */
  readonly traderDayWei: bigint
  /** Gas that all actions of the deployment on this chain may cost on a UTC day. */
  readonly deploymentDayWei: bigint
  /** Below this balance the relayer asks to be topped up. */
  readonly lowBalanceWei: bigint
  /** Most that is ever offered per unit of gas for an action. A burn may go to twice as much, so that it can always replace one. */
  readonly maxFeeWei: bigint
  /** Least tip per unit of gas. */
  readonly minTipWei: bigint
  /** Units; for an action that the node could not estimate. */
  readonly fallbackGas: bigint
  /** Units; more than any action takes. */
  readonly maxGas: bigint
  /** Units; for an empty transfer. More than 21,000 because roll-ups count the bytes they publish as gas. */
  readonly burnGas: bigint
  /** Entries that are not settled yet, all together. */
  readonly maxUnsettled: number
  /** Between two looks at the node while something is under way. */
  readonly pollMs: number
  /** Between two looks at the fees and the balance. */
  readonly feesMs: number
  /** Fees older than this price nothing. */
  readonly maxFeesAgeMs: number
  /** The next in line is re-priced when it was not mined within this. */
  readonly stuckMs: number
  /** Between two sendings of the same bytes: nodes forget. */
  readonly resendMs: number
  /** Between two versions of one entry, whatever the node says of its price. */
  readonly minRepriceMs: number
}

const GWEI = 10n ** 9n
const ETHER = 10n ** 18n

const STANDARD: RelayerSettings = {
  traderDayWei: ETHER / 20n,
  deploymentDayWei: ETHER,
  lowBalanceWei: ETHER / 50n,
  maxFeeWei: 100n * GWEI,
  minTipWei: 1n,
  fallbackGas: 5_000_000n,
  maxGas: 30_000_000n,
  burnGas: 500_000n,
  maxUnsettled: 5_000,
  pollMs: 500,
  feesMs: 3_000,
  maxFeesAgeMs: 60_000,
  stuckMs: 10_000,
  resendMs: 4_000,
  minRepriceMs: 1_000,
}

/** Its native token is worth a ten-thousandth of ether, and its nodes take no tip below 25 gwei. */
const POLYGON: RelayerSettings = {
  ...STANDARD,
  traderDayWei: 200n * ETHER,
  deploymentDayWei: 4_000n * ETHER,
  lowBalanceWei: 50n * ETHER,
  maxFeeWei: 5_000n * GWEI,
  minTipWei: 25n * GWEI,
}

/** Generous: they are there so that a fault or an abuse can't empty the wallet, not to ration. */
export function defaultRelayerSettings(chain: ChainSlug): RelayerSettings {
  return chain === 'polygon' ? POLYGON : STANDARD
}
