import { Wei, type ChainSlug } from '@bezel/protocol'

/** Gas budgets of a UTC day, with what is set aside on it, in wei of the chain's native token. */
export interface GasBudgets {
  /** The largest gas cost of one trader's actions. */
  readonly traderDayWei: bigint
  /** The largest gas cost of all actions of the deployment on this chain. */
  readonly deploymentDayWei: bigint
}

/** The settings of one chain's relayer. Amounts are in wei of the chain's native token. */
export interface RelayerSettings {
  /** Returns the budgets in force now. */
  readonly budgets: () => GasBudgets
  /** The balance, without what is set aside and under way, below which the relayer asks to be topped up. */
  readonly lowBalanceWei: bigint
  /**
   * The highest fee offered per unit of gas for an action, at which the gas of its way out is set aside. An exit may
   * offer more, as far as what is set aside for it goes. A burn may offer twice as much, so that it can always replace
   * an action.
   */
  readonly maxFeeWei: bigint
  /** The lowest tip per unit of gas. */
  readonly minTipWei: bigint
  /** Gas limit, in units, of an action that the node could not estimate. */
  readonly fallbackGas: bigint
  /** The largest gas limit of an action, in units. No action needs more. */
  readonly maxGas: bigint
  /**
   * The least gas, in units, that is set aside for each part of a way out: twice that of a close on the local chain.
   */
  readonly exitGas: bigint
  /**
   * Gas limit, in units, of an empty transfer. More than 21,000 because roll-ups count the bytes they publish as gas.
   */
  readonly burnGas: bigint
  /**
   * The number of entries that are not mined, of all traders together, from which on only exits and a trader's first
   * few are accepted.
   */
  readonly maxUnmined: number
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

type StandardSettings = Omit<RelayerSettings, 'budgets'> & GasBudgets

/**
 * Roll-ups mostly take a tenth of this fee or less. A trader's day has room for about forty ways out at the fee cap,
 * and the balance is low below ten opens.
 */
const STANDARD: StandardSettings = {
  traderDayWei: ETHER / 10n,
  deploymentDayWei: ETHER,
  lowBalanceWei: (3n * ETHER) / 100n,
  maxFeeWei: GWEI / 2n,
  minTipWei: 1n,
  fallbackGas: 5_000_000n,
  maxGas: 30_000_000n,
  exitGas: 1_500_000n,
  burnGas: 500_000n,
  maxUnmined: 1_000,
  pollMs: 500,
  feesMs: 3_000,
  maxFeesAgeMs: 60_000,
  stuckMs: 10_000,
  resendMs: 4_000,
  minRepriceMs: 1_000,
}

/** Polygon's native token is worth a ten-thousandth of ether, and its nodes take no tip below 25 gwei. */
const POLYGON: StandardSettings = {
  ...STANDARD,
  traderDayWei: 200n * ETHER,
  deploymentDayWei: 4_000n * ETHER,
  lowBalanceWei: 60n * ETHER,
  maxFeeWei: 1_000n * GWEI,
  minTipWei: 25n * GWEI,
}

/**
 * Returns the settings of a chain: the defaults, except for the budgets that `overrides` returns. The budgets are
 * generous: they keep a fault or an abuse from emptying the wallet and do not ration ordinary use.
 */
export function defaultRelayerSettings(
  chain: ChainSlug,
  overrides: () => Partial<GasBudgets> = () => ({}),
): RelayerSettings {
  const { traderDayWei, deploymentDayWei, ...settings } = chain === 'polygon' ? POLYGON : STANDARD
  return { ...settings, budgets: () => ({ traderDayWei, deploymentDayWei, ...overrides() }) }
}
