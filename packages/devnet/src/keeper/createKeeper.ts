import { diamondAbi, PendingOrderType, TradeType } from '@bezel/protocol'
import { encodeFunctionData, type Address } from 'viem'
import { type BlockTimes, eachBlock } from '../chain/eachBlock.ts'
import type { LocalChain } from '../chain/createLocalChain.ts'
import type { Wallet } from '../deploy/createWallet.ts'
import type { Diamond } from '../diamond/createDiamond.ts'
import { readOpenTrades, type OpenTrade, type OpenTradeInfo } from '../diamond/readLists.ts'
import type { Prices } from '../feed/prices.ts'
import { readBlockTimeMs, type AnswerPrices } from '../oracle/answerPrices.ts'

/** Triggers limit and stop orders, take profits, stop losses and liquidations when their price is reached. */
export interface Keeper {
  pause(paused: boolean): void
  stop(): Promise<void>
}

interface KeeperOptions {
  readonly chain: LocalChain
  readonly diamond: Diamond
  readonly prices: Prices
  readonly blockTimes: BlockTimes
  readonly wallet: Wallet
  readonly report: (error: unknown) => void
}

/**
 * Blocks before a trigger is retried: more than the longest time a trigger in flight blocks others (50 blocks), so that
 * a retry is never refused for it.
 */
const RETRY_AFTER_BLOCKS = 60

/**
 * Margin around a trigger, 1 in 50. Skew shifts the price that triggers compare, and the Diamond caps it far below
 * this.
 */
const MARGIN_DIVISOR = 50n

/**
 * Loss of collateral in percent from which a position is checked closely. The lowest threshold in the listing is 65 %
 * less fees.
 */
const CLOSE_LOOK_LOSS_PERCENT = 25n

/**
 * Blocks after which the Diamond is asked about a liquidation also when the price says nothing: holding fees alone use
 * up a position in time.
 */
const LOOK_AGAIN_BLOCKS = 20

/**
 * Creates the keeper. All work is derived from the open trades that the chain itself lists, and the Diamond has the
 * last word on each trigger.
 */
export function createKeeper({ chain, diamond, prices, blockTimes, wallet, report }: KeeperOptions): Keeper {
  let watches = new Map<string, Watch>()
  let isStale = true
  let paused = false

  async function refresh(): Promise<void> {
    if (!isStale) return
    // A block that comes in between and changes what is read is handed over next.
    const trades = await readOpenTrades(diamond)
    isStale = false
    const known = watches
    watches = new Map()
    for (const [trade, info] of trades) {
      for (const watch of watchesOf(trade, info)) watches.set(watch.key, known.get(watch.key) ?? watch)
    }
  }

  /** Extends the candle since the order's last edit: read once in full, then continued from where it was left. */
  async function follow(watch: Watch): Promise<void> {
    const fromMs = watch.candleToMs ?? (await readBlockTimeMs({ chain, blockTimes }, watch.fromBlock))
    watch.candle = extendCandle(watch.candle, prices.candleSince(watch.trade.pairIndex, fromMs)[watch.priceKind])
    watch.candleToMs = prices.timeMs()
  }

  async function wouldExecute({ trade, orderType, candle, isOpening }: Watch): Promise<boolean> {
    if (candle === undefined) return false
    const id = { user: trade.user, index: trade.index }
    const view = isOpening ? 'validateTriggerOpenOrderCallback' : 'validateTriggerCloseOrderCallback'
    const args = [id, orderType, candle.open, candle.high, candle.low, candle.current] as const
    const [, values] = await diamond.read(view, args)
    return values.cancelReason === 0
  }

  async function trigger(watch: Watch): Promise<void> {
    watch.triggeredAtBlock = chain.head().number
    const packed = packTrigger(watch.orderType, watch.trade.user, watch.trade.index)
    const data = encodeFunctionData({ abi: diamondAbi, functionName: 'triggerOrder', args: [packed] })
    await wallet.send(diamond.address, data)
  }

  async function check(watch: Watch): Promise<void> {
    if (!prices.isOpen(watch.trade.pairIndex)) return
    await follow(watch)
    const { triggeredAtBlock } = watch
    const head = chain.head().number
    if (triggeredAtBlock !== undefined && head - triggeredAtBlock < RETRY_AFTER_BLOCKS) return
    if (!isNear(watch) && !isDue(watch, head)) return
    watch.askedAtBlock = head
    if (await wouldExecute(watch)) await trigger(watch)
  }

  const work = eachBlock(
    chain,
    async (blocks) => {
      isStale ||= blocks.some(diamond.isTouchedBy)
      if (paused) return
      await refresh()
      for (const watch of watches.values()) await check(watch)
    },
    report,
  )
  return {
    pause(value) {
      paused = value
      work.wake()
    },
    stop: work.stop,
  }
}

/** A way in which an open trade or resting order can be triggered. */
export interface Watch {
  /** Key that stays the same as long as nothing about the trigger changes. */
  readonly key: string
  readonly trade: OpenTrade
  readonly orderType: number
  /** True for a limit or stop order that opens; false for something that closes. */
  readonly isOpening: boolean
  readonly priceKind: 'mark' | 'index'
  /** Trigger price, 1e10; 0 for a liquidation, whose price only the Diamond knows. */
  readonly triggerPrice: bigint
  /** First block from which prices count. */
  readonly fromBlock: number
  /** Prices since `fromBlock`, up to `candleToMs`. */
  candle?: AnswerPrices
  candleToMs?: number
  /** The block at which the Diamond was last asked. */
  askedAtBlock?: number
  triggeredAtBlock?: number
}

type Trigger = Pick<Watch, 'orderType' | 'triggerPrice' | 'fromBlock'>

/** Returns all ways in which a trade can be triggered at present. */
export function watchesOf(trade: OpenTrade, info: OpenTradeInfo): Watch[] {
  return triggersOf(trade, info).map((trigger) => ({
    ...trigger,
    trade,
    isOpening: trade.tradeType !== TradeType.TRADE,
    priceKind: trigger.orderType === PendingOrderType.LIQ_CLOSE ? 'index' : 'mark',
    key: [trade.user, trade.index, trade.collateralAmount, trade.leverage, ...Object.values(trigger)].join(':'),
  }))
}

/** Returns the argument of triggerOrder: order type in bits 0-7, trader in 8-167, trade index in 168-199. */
export function packTrigger(orderType: number, trader: Address, tradeIndex: number): bigint {
  return BigInt(orderType) | (BigInt(trader) << 8n) | (BigInt(tradeIndex) << 168n)
}

/** Joins a candle and the one that follows it. */
export function extendCandle(candle: AnswerPrices | undefined, next: AnswerPrices): AnswerPrices {
  if (candle === undefined) return next
  return {
    open: candle.open,
    high: candle.high > next.high ? candle.high : next.high,
    low: candle.low < next.low ? candle.low : next.low,
    current: next.current,
  }
}

function triggersOf(trade: OpenTrade, info: OpenTradeInfo): Trigger[] {
  const { createdBlock, tpLastUpdatedBlock, slLastUpdatedBlock } = info
  if (trade.tradeType !== TradeType.TRADE) {
    const orderType = trade.tradeType === TradeType.LIMIT ? PendingOrderType.LIMIT_OPEN : PendingOrderType.STOP_OPEN
    return [{ orderType, triggerPrice: trade.openPrice, fromBlock: createdBlock }]
  }
  const triggers: Trigger[] = [
    { orderType: PendingOrderType.TP_CLOSE, triggerPrice: trade.tp, fromBlock: tpLastUpdatedBlock },
    { orderType: PendingOrderType.SL_CLOSE, triggerPrice: trade.sl, fromBlock: slLastUpdatedBlock },
  ]
  const liquidation = { orderType: PendingOrderType.LIQ_CLOSE, triggerPrice: 0n, fromBlock: createdBlock }
  return [...triggers.filter(({ triggerPrice }) => triggerPrice > 0n), liquidation]
}

/** Returns true for a liquidation that the Diamond was not asked about for some time. */
export function isDue({ orderType, askedAtBlock = 0 }: Watch, head: number): boolean {
  return orderType === PendingOrderType.LIQ_CLOSE && head - askedAtBlock >= LOOK_AGAIN_BLOCKS
}

/**
 * Returns true when the price makes the Diamond worth asking: the prices since the last edit came within 2 % of the
 * trigger, or a position is losing. It only saves calls, so it must never be false for something that executes by its
 * price.
 */
export function isNear(watch: Watch): boolean {
  const { candle, orderType, triggerPrice } = watch
  if (candle === undefined) return false
  if (orderType === PendingOrderType.LIQ_CLOSE) return isLosing(watch)
  const margin = triggerPrice / MARGIN_DIVISOR
  return isReachedFromAbove(watch) ? candle.low <= triggerPrice + margin : candle.high >= triggerPrice - margin
}

/**
 * Returns true for triggers that execute at or below their price: limit longs, stop shorts, long stop losses and short
 * take profits.
 */
function isReachedFromAbove({ trade, orderType }: Watch): boolean {
  if (trade.tradeType === TradeType.LIMIT) return trade.long
  if (trade.tradeType === TradeType.STOP) return !trade.long
  return (orderType === PendingOrderType.TP_CLOSE) !== trade.long
}

function isLosing({ trade, candle }: Watch): boolean {
  if (candle === undefined || trade.openPrice === 0n) return false
  const move = trade.long ? candle.low - trade.openPrice : trade.openPrice - candle.high
  return (move * BigInt(trade.leverage) * 100n) / trade.openPrice / 1000n <= -CLOSE_LOOK_LOSS_PERCENT
}
