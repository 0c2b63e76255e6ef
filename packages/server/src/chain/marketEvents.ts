import { diamondAbi, moneyEventsAbi, type Hex } from '@bezel/protocol'
import { toEventSelector, type AbiEvent } from 'viem'
import { createLogDecoder, defineEvent, type Decoded } from './events.ts'

/**
 * The events of the Diamond that tell what trades change in the state of a market; `foldTraded.ts` handles each of
 * them. All but the last one carry the new value.
 */
const DECODERS = [
  /** First-generation borrowing of a group of pairs was brought up to a block. */
  defineEvent(moneyEventsAbi, 'BorrowingGroupAccFeesUpdated'),
  /** The open interest of a group of pairs changed. */
  defineEvent(moneyEventsAbi, 'BorrowingGroupOiUpdated'),
  /** First-generation borrowing of a pair was brought up to a block. */
  defineEvent(moneyEventsAbi, 'BorrowingPairAccFeesUpdated'),
  /** Open interest of trades from before v10 changed. Only live contracts emit it. */
  defineEvent(moneyEventsAbi, 'BorrowingPairOiBeforeV10Updated'),
  /** Open interest of trades of v10 and later changed. */
  defineEvent(moneyEventsAbi, 'PairOiAfterV10Updated'),
  /** Borrowing of a pair was brought up to the block's time. */
  defineEvent(moneyEventsAbi, 'PendingAccBorrowingFeesStored'),
  /** Funding of a pair was brought up to the block's time. */
  defineEvent(moneyEventsAbi, 'PendingAccFundingFeesStored'),
  /** Volume was added to a window of a pair. No event of this ABI takes any away. */
  defineEvent(moneyEventsAbi, 'PriceImpactOpenInterestAdded'),
] as const

/** A decoded event about the state of a market; `name` determines the type of `args`. */
export type MarketEvent = Decoded<(typeof DECODERS)[number]>

/** The names of all events about the state of a market. */
export const MARKET_EVENTS: readonly MarketEvent['name'][] = DECODERS.map(({ name }) => name)

/** Decodes a log about the state of a market. */
export const decodeMarketLog = createLogDecoder(DECODERS)

/**
 * Signatures of the live Diamond's events, beside those of the ABI below, that tell of another setting of a market. The
 * settings are read again at the block of such an event, because half of the events do not carry the new value.
 */
export const SETTING_EVENTS: readonly string[] = [
  'AbsoluteRatePerSecondCapUpdated(uint8,uint16,uint24)',
  'AbsoluteVelocityPerYearCapUpdated(uint8,uint16,uint24)',
  'AprMultiplierEnabledUpdated(uint8,uint16,bool)',
  'BorrowingFeePerBlockCapUpdated(uint32,uint32)',
  'BorrowingGroupUpdated(uint8,uint16,uint32,uint72,uint48)',
  'BorrowingPairFeePerBlockCapUpdated(uint8,uint16,uint32,uint32)',
  'BorrowingPairGroupUpdated(uint8,uint16,uint16,uint16)',
  'BorrowingPairParamsUpdated(uint8,uint16,uint16,uint32,uint48,uint72)',
  'BorrowingRatePerSecondPUpdated(uint8,uint16,uint24)',
  'CounterTradeFeeRateMultiplierUpdated(uint16,uint16)',
  'CumulativeFactorUpdated(uint256,uint40)',
  'DepthBandsMappingUpdated(uint256,uint256)',
  'ExemptAfterProtectionCloseFactorUpdated(uint256,bool)',
  'ExemptOnOpenUpdated(uint256,bool)',
  'FundingFeesEnabledUpdated(uint8,uint16,bool)',
  'GlobalTradeFeeParamsUpdated((uint24,uint24,uint24,uint24,uint24,uint136))',
  'MaxSkewCollateralUpdated(uint8,uint16,uint80)',
  'NegPnlCumulVolMultiplierUpdated(uint40)',
  'OiWindowsSettingsInitialized(uint48,uint48)',
  'OnePercentDepthUpdated(uint256,uint128,uint128)',
  'OnePercentSkewDepthUpdated(uint8,uint16,uint256)',
  'PairDepthBandsUpdated(uint256,uint256,uint256,uint256,uint256)',
  'PriceImpactOiTransferredPair(uint256,(uint128,uint128))',
  'PriceImpactOiTransferredPairs(uint256,uint256,uint256,uint256)',
  'PriceImpactWindowsCountUpdated(uint48)',
  'PriceImpactWindowsDurationUpdated(uint48)',
  'ProtectionCloseFactorBlocksUpdated(uint256,uint32)',
  'ProtectionCloseFactorUpdated(uint256,uint40)',
  'SkewCoefficientPerYearUpdated(uint8,uint16,uint112)',
  'ThetaThresholdUsdUpdated(uint8,uint16,uint32)',
]

type EventName = Extract<(typeof diamondAbi)[number], { readonly type: 'event' }>['name']

/** Events of the ABI that tell of another setting. A cut of the Diamond may change any of them. */
const SETTING_EVENT_NAMES: readonly EventName[] = [
  'CollateralAdded',
  'CollateralDisabled',
  'CollateralUpdated',
  'DiamondCut',
  'FeeAdded',
  'FeeUpdated',
  'GroupAdded',
  'GroupLiquidationParamsUpdated',
  'GroupUpdated',
  'MarketOrdersTimeoutBlocksUpdated',
  'PairAdded',
  'PairCustomMaxLeverageUpdated',
  'PairUpdated',
  'TradingActivatedUpdated',
  'TriggerTimeoutBlocksUpdated',
]

const ABI_EVENTS: readonly AbiEvent[] = diamondAbi.filter((entry) => entry.type === 'event')

const SETTING_TOPICS: ReadonlySet<Hex> = new Set([
  ...SETTING_EVENTS.map((signature) => toEventSelector(signature) as Hex),
  ...SETTING_EVENT_NAMES.map((name) => toEventSelector(ABI_EVENTS.find((event) => event.name === name)!) as Hex),
  toEventSelector('Upgraded(address)') as Hex,
])

/** Returns true for the first topic of a log that tells of another setting of a market. */
export function isSettingTopic(topic: Hex): boolean {
  return SETTING_TOPICS.has(topic)
}
