import type { Hex } from '@bezel/protocol'
import { ChainlinkCallbackTimeout } from './ChainlinkCallbackTimeout.ts'
import type { EventDecoder } from './defineEvent.ts'
import { FeesProcessed } from './FeesProcessed.ts'
import { HoldingFeesChargedOnTrade } from './HoldingFeesChargedOnTrade.ts'
import { HoldingFeesRealizedOnTrade } from './HoldingFeesRealizedOnTrade.ts'
import { LeverageUpdateExecuted } from './LeverageUpdateExecuted.ts'
import { LimitExecuted } from './LimitExecuted.ts'
import { MarketCloseCanceled } from './MarketCloseCanceled.ts'
import { MarketExecuted } from './MarketExecuted.ts'
import { MarketOpenCanceled } from './MarketOpenCanceled.ts'
import { OpenLimitCanceled } from './OpenLimitCanceled.ts'
import { OpenOrderDetailsUpdated } from './OpenOrderDetailsUpdated.ts'
import { PendingOrderStored } from './PendingOrderStored.ts'
import { PnlRealizedOnOpenTrade } from './PnlRealizedOnOpenTrade.ts'
import { PositionSizeDecreaseExecuted } from './PositionSizeDecreaseExecuted.ts'
import { PositionSizeIncreaseExecuted } from './PositionSizeIncreaseExecuted.ts'
import type { RawLog } from './rawLog.ts'
import { TradeClosed } from './TradeClosed.ts'
import { TradeCollateralUpdated } from './TradeCollateralUpdated.ts'
import { TradeInitialAccFeesStored } from './TradeInitialAccFeesStored.ts'
import { TradeMaxClosingSlippagePUpdated } from './TradeMaxClosingSlippagePUpdated.ts'
import { TradePositionUpdated } from './TradePositionUpdated.ts'
import { TradeSlUpdated } from './TradeSlUpdated.ts'
import { TradeStored } from './TradeStored.ts'
import { TradeTpUpdated } from './TradeTpUpdated.ts'
import { TradingFeesRealized } from './TradingFeesRealized.ts'

/** Every event of the Diamond that orders, positions or fills are made from. All others are none of our business. */
const DECODERS = [
  ChainlinkCallbackTimeout,
  FeesProcessed,
  HoldingFeesChargedOnTrade,
  HoldingFeesRealizedOnTrade,
  LeverageUpdateExecuted,
  LimitExecuted,
  MarketCloseCanceled,
  MarketExecuted,
  MarketOpenCanceled,
  OpenLimitCanceled,
  OpenOrderDetailsUpdated,
  PendingOrderStored,
  PnlRealizedOnOpenTrade,
  PositionSizeDecreaseExecuted,
  PositionSizeIncreaseExecuted,
  TradeClosed,
  TradeCollateralUpdated,
  TradeInitialAccFeesStored,
  TradeMaxClosingSlippagePUpdated,
  TradePositionUpdated,
  TradeSlUpdated,
  TradeStored,
  TradeTpUpdated,
  TradingFeesRealized,
] as const

type Decoded<Decoder> =
  Decoder extends EventDecoder<infer Name, infer Args> ? { readonly name: Name; readonly args: Args } : never

/** A decoded event: its name tells which arguments it has. */
export type DiamondEvent = Decoded<(typeof DECODERS)[number]>
export type EventName = DiamondEvent['name']
export type EventOf<Name extends EventName> = Extract<DiamondEvent, { readonly name: Name }>

/** Their names. */
export const USED_EVENTS: readonly EventName[] = DECODERS.map(({ name }) => name)

const BY_TOPIC: ReadonlyMap<Hex, (typeof DECODERS)[number]> = new Map(
  DECODERS.map((decoder) => [decoder.topic0, decoder]),
)

/** `undefined` when it is of a kind that is not used. Throws an `EventDecodeError` when it is of a used one but can't be read. */
export function decodeLog(log: RawLog): DiamondEvent | undefined {
  const [topic0] = log.topics
  const decoder = topic0 === undefined ? undefined : BY_TOPIC.get(topic0)
  return decoder === undefined ? undefined : ({ name: decoder.name, args: decoder.decode(log) } as DiamondEvent)
}
