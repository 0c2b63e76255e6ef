import { Wei, type ChainSlug } from '@bezel/protocol'

/** The settings of one chain's relayer. Amounts are in wei of the chain's native token. */
export interface RelayerSettings {
  /** The largest gas cost of one trader's actions on a UTC day. */
  readonly traderDayWei: bigint
  /** The largest gas cost of all actions of the deployment on this chain on a UTC day. */
  readonly deploymentDayWei: bigint
  /** The balance below which the relayer asks to be topped up. */
  readonly lowBalanceWei: bigint
  /**
   * The highest fee offered per unit of gas for an action. A burn may offer twice as much, so that it can always
   * replace an action.
   */
  readonly maxFeeWei: bigint
  /** The lowest tip per unit of gas. */
  readonly minTipWei: bigint
  /** Gas limit, in units, of an action that the node could not estimate. */
  readonly fallbackGas: bigint
  /** The largest gas limit of an action, in units. No action needs more. */
  readonly maxGas: bigint
  /**
   * Gas limit, in units, of an empty transfer. More than 21,000 because roll-ups count the bytes they publish as gas.
   */
  readonly burnGas: bigint
  /** The largest number of entries that are not settled, of all traders together. */
  readonly maxUnsettled: number
  /** Time between two polls of the node while something is under way. */
  readonly pollMs: number
  /** Time between two reads of the fees and the balance. */
  readonly feesMs: number
  /** The age beyond which fees are not used for an offer. */
  readonly maxFeesAgeMs: number
  /** Time after which the next transaction in nonce order is re-priced when it was not mined. */
  readonly stuckMs: number
  /** Time between two sends of the same transaction. Nodes may forget one. */
  readonly resendMs: number
  /** The shortest time between two versions of one entry, even when the node asks for a higher price. */
  readonly minRepriceMs: number
}

const GWEI = 10n ** 9n
const ETHER = Wei.one

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

/** Polygon's native token is worth a ten-thousandth of ether, and its nodes take no tip below 25 gwei. */
const POLYGON: RelayerSettings = {
  ...STANDARD,
  traderDayWei: 200n * ETHER,
  deploymentDayWei: 4_000n * ETHER,
  lowBalanceWei: 50n * ETHER,
  maxFeeWei: 5_000n * GWEI,
  minTipWei: 25n * GWEI,
}

/**
 * Returns the default settings of a chain. The budgets are generous: they keep a fault or an abuse from emptying the
 * wallet and do not ration ordinary use.
 */
export function defaultRelayerSettings(chain: ChainSlug): RelayerSettings {
  return chain === 'polygon' ? POLYGON : STANDARD
}
