import {
  CollateralAmount,
  PendingOrderType,
  PercentP,
  Price,
  withScales,
  type Fill,
  type FillAction,
  type OrderId,
  type OrderType,
} from '@bezel/protocol'
import type { EventOf, DiamondEvent } from '../chain/events.ts'
import { addOrderEvent, findOrderByHandle, traderOf, type TransactionScope } from './transactionScope.ts'
import { sizeDecimal, triggerDecimal, collateralOf, withTokens } from '../trading/market/amounts.ts'
import { grossValueCollateral } from '../trading/valuation/profit.ts'
import type { Trade } from '../trading/valuation/chainState.ts'
import { isOpening } from './applyPosition.ts'
import type { PlacedEvent } from '../chain/blocks.ts'
import { sideOf } from '../chain/creation.ts'
import { closeRequest, keepForeignOrder } from './foreignOrders.ts'
import { addFill, type Execution } from './historyEntries.ts'

type MarketExecuted = EventOf<'MarketExecuted'> & PlacedEvent
type LimitExecuted = EventOf<'LimitExecuted'> & PlacedEvent

/** Records the execution of a market open or close. */
export async function applyMarketExecuted(tx: TransactionScope, event: MarketExecuted, at: number): Promise<void> {
  const { open, orderId: request } = event.args
  const orderType = open ? PendingOrderType.MARKET_OPEN : PendingOrderType.MARKET_CLOSE
  const action = open ? 'TradeOpenedMarket' : 'TradeClosedMarket'
  const execution = await readExecution(tx, event, { action, feeCollateral: feeAt(tx, event, at, orderType) })
  await addFill(tx, execution)
  const orderId = await findOrderByHandle(tx, request.user, `pending:${request.index}`)
  if (orderId !== undefined) await addExecuted(tx, orderId, execution, request.index)
}

/**
 * Records the execution of a trigger: a resting order became a position, or a position was closed by take profit, stop
 * loss or liquidation.
 */
export async function applyLimitExecuted(tx: TransactionScope, event: LimitExecuted, at: number): Promise<void> {
  const { orderType, user, limitIndex } = event.args
  const feeCollateral = feeAt(tx, event, at, orderType)
  if (isOpening(orderType)) {
    const execution = await readExecution(tx, event, { action: 'TradeOpenedLimit', feeCollateral })
    await addFill(tx, execution)
    const orderId = await findOrderByHandle(tx, user, `trade:${limitIndex}`)
    if (orderId !== undefined) await addExecuted(tx, orderId, execution, null)
    return
  }
  const closing = CLOSINGS.get(orderType)
  if (closing === undefined) return
  const execution = await readExecution(tx, event, { action: closing.action, feeCollateral })
  await addFill(tx, execution)
  const orderId = await keepKeeperOrder(tx, event, closing, execution.positionId)
  if (orderId !== undefined) await addExecuted(tx, orderId, execution, null)
}

/** One of the reasons for which bots close positions: take profit, stop loss or liquidation. */
interface KeeperClosing {
  readonly action: FillAction
  /** First part of the order's origin key. */
  readonly key: 'tp' | 'sl' | 'liq'
  readonly type: OrderType
  readonly priceOf: (args: LimitExecuted['args']) => bigint
}

const CLOSINGS: ReadonlyMap<number, KeeperClosing> = new Map([
  [
    PendingOrderType.TP_CLOSE,
    { action: 'TradeClosedTP', key: 'tp', type: 'limit', priceOf: ({ t }: LimitExecuted['args']) => t.tp },
  ],
  [
    PendingOrderType.SL_CLOSE,
    { action: 'TradeClosedSL', key: 'sl', type: 'stop', priceOf: ({ t }: LimitExecuted['args']) => t.sl },
  ],
  [
    PendingOrderType.LIQ_CLOSE,
    { action: 'TradeClosedLIQ', key: 'liq', type: 'stop', priceOf: ({ liqPrice }: LimitExecuted['args']) => liqPrice },
  ],
])

/** Returns the origin key of the order for a close by a trigger of this type; `undefined` when none is stored. */
export function closingKeyOf(orderType: number, positionId: OrderId): string | undefined {
  const closing = CLOSINGS.get(orderType)
  return closing === undefined ? undefined : originKeyOf(closing, positionId)
}

function originKeyOf({ key }: KeeperClosing, positionId: OrderId): string {
  return `${key}:${positionId}`
}

/**
 * Stores an order for a close that no trader ordered, so that order histories are complete. `undefined` when the
 * position is not known.
 */
async function keepKeeperOrder(
  { scope }: TransactionScope,
  { args }: LimitExecuted,
  closing: KeeperClosing,
  positionId: OrderId | null,
): Promise<OrderId | undefined> {
  const position = positionId === null ? undefined : await scope.readPositionState(positionId)
  if (positionId === null || position === undefined) return undefined
  const close = closeRequest(scope, position, { positionId, part: withScales<Trade>(args.t) })
  const request = { ...close, type: closing.type, price: triggerDecimal(Price.of(closing.priceOf(args))) }
  const originKey = originKeyOf(closing, positionId)
  return keepForeignOrder(scope, { originKey, trader: traderOf(args.user), request })
}

function feeAt(
  { transaction }: TransactionScope,
  { args }: MarketExecuted | LimitExecuted,
  at: number,
  orderType: number,
): CollateralAmount {
  return executionFee(transaction.events, at, { trader: args.user, orderType })
}

async function readExecution(
  { scope }: TransactionScope,
  { args, logIndex }: MarketExecuted | LimitExecuted,
  of: Pick<Execution, 'action' | 'feeCollateral'>,
): Promise<Execution> {
  const { t, user, index } = args
  const positionId = await scope.findPosition(traderOf(user), index)
  const position = positionId === undefined ? undefined : await scope.readPositionState(positionId)
  const collateralPriceUsd = position?.info.collateralPriceUsd ?? args.collateralPriceUsd
  const collateralAmount = CollateralAmount.of(t.collateralAmount)
  const { state } = collateralOf(scope.markets, t.collateralIndex)
  const gross = grossValueCollateral(collateralAmount, PercentP.of(args.percentProfit), state)
  const isOpened = OPENINGS.has(of.action)
  return {
    ...of,
    trader: user,
    pairIndex: t.pairIndex,
    collateralIndex: t.collateralIndex,
    side: sideOf(t.long),
    price: Price.of(args.marketPrice),
    size: sizeDecimal(withTokens(scope.markets, withScales<Trade>(t)), { collateralPriceUsd }),
    collateralAmount,
    leverage: t.leverage,
    pnlCollateral: CollateralAmount.of(gross - collateralAmount),
    deposit: isOpened ? collateralAmount : CollateralAmount.zero,
    payout: CollateralAmount.of(args.amountSentToTrader),
    positionId: positionId ?? null,
    ...(isOpened && position !== undefined ? { sl: position.trade.sl } : {}),
    logIndex,
  }
}

const OPENINGS: ReadonlySet<FillAction> = new Set<FillAction>(['TradeOpenedMarket', 'TradeOpenedLimit'])

export async function addExecuted(
  tx: TransactionScope,
  orderId: OrderId,
  execution: Execution,
  pendingIndex: number | null,
): Promise<void> {
  const kept = execution.sl === undefined ? {} : { sl: execution.sl }
  await addOrderEvent(tx, {
    trader: execution.trader,
    orderId,
    logIndex: execution.logIndex,
    body: { kind: 'executed', pendingIndex, fill: fillOf(tx, execution), ...kept },
    isByTrader: false,
  })
}

/** Returns the fill in the form that its order shows. */
function fillOf({ scope, transaction }: TransactionScope, execution: Execution): Fill {
  const { decimals } = collateralOf(scope.markets, execution.collateralIndex)
  return {
    price: Price.format(execution.price),
    size: execution.size,
    collateral: CollateralAmount.format(execution.collateralAmount, decimals),
    feeCollateral: CollateralAmount.format(execution.feeCollateral, decimals),
    txHash: transaction.hash,
    timestamp: scope.block.timestampMs,
    positionId: execution.positionId,
  }
}

/**
 * Returns the trading fee of the execution at index `at`, 0 when there was none. The Diamond emits FeesProcessed just
 * before the execution event. Another execution may stand between the two, because a fee can liquidate a trade, but
 * never one of the same trader and order type.
 */
function executionFee(
  events: readonly PlacedEvent[],
  at: number,
  of: { readonly trader: `0x${string}`; readonly orderType: number },
): CollateralAmount {
  for (const event of events.slice(0, at).toReversed()) {
    const executed = executedTypeOf(event)
    if (executed?.trader === of.trader && executed.orderType === of.orderType) return CollateralAmount.zero
    if (event.name !== 'FeesProcessed') continue
    if (event.args.trader === of.trader && event.args.orderType === of.orderType) {
      return CollateralAmount.of(event.args.totalFeesCollateral)
    }
  }
  return CollateralAmount.zero
}

function executedTypeOf(
  event: DiamondEvent,
): { readonly trader: `0x${string}`; readonly orderType: number } | undefined {
  if (event.name === 'LimitExecuted') return { trader: event.args.user, orderType: event.args.orderType }
  if (event.name !== 'MarketExecuted') return undefined
  const orderType = event.args.open ? PendingOrderType.MARKET_OPEN : PendingOrderType.MARKET_CLOSE
  return { trader: event.args.user, orderType }
}
