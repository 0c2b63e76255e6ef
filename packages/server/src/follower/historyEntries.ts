import {
  CollateralAmount,
  Price,
  type Address,
  type Decimal,
  type FillAction,
  type FillHistoryEntry,
  type OrderId,
  type Side,
} from '@bezel/protocol'
import type { EventOf } from '../chain/events.ts'
import type { PlacedEvent } from '../chain/blocks.ts'
import { sideOf } from '../chain/creation.ts'
import { insertFill, type StoredFill } from '../store/fillStore.ts'
import { collateralOf, leverageDecimal, sizeDecimal, symbolOf, withTokens } from '../trading/market/amounts.ts'
import { bookEntry, type BookedAmounts } from '../trading/positions/books.ts'
import { traderOf, type TransactionScope } from './transactionScope.ts'

// Entries of the history of fills: executions, and refusals that cost something.

/** One execution, in the chain's scales except for the size. */
export interface Execution {
  readonly action: FillAction
  readonly trader: `0x${string}`
  readonly pairIndex: number
  readonly collateralIndex: number
  /** Side of the position. */
  readonly side: Side
  readonly price: Price
  /** Size in units of the base asset. */
  readonly size: Decimal
  readonly collateralAmount: CollateralAmount
  /** Leverage, scaled by 1e3. */
  readonly leverage: number
  readonly feeCollateral: CollateralAmount
  /** Profit from the price alone on the closed part, before fees. */
  readonly pnlCollateral: CollateralAmount
  /** Tokens that left the wallet for it, with the request or with the order that it executes. */
  readonly deposit: CollateralAmount
  /** Tokens that reached the wallet with it. */
  readonly payout: CollateralAmount
  /** Id of the position; `null` when it was opened before the follower's first block. */
  readonly positionId: OrderId | null
  /** Stop loss that the chain keeps for the opened position; absent for whatever opens none. */
  readonly sl?: Price
  readonly logIndex: number
}

/** Adds the execution to the history of fills, if the position is known. */
export async function addFill(tx: TransactionScope, execution: Execution): Promise<void> {
  const { action, positionId, feeCollateral, pnlCollateral: pnl, deposit, payout } = execution
  if (positionId === null) return
  const { value, fundingFee, borrowingFee } = await tx.books.take(positionId)
  const told = { pnl, feeCollateral, fundingFee, borrowingFee, deposit, payout }
  const amounts = bookEntry(action, told, value)
  const fill = await addEntry(tx, { ...execution, trader: traderOf(execution.trader), positionId, amounts })
  tx.scope.journal.execution({ trader: traderOf(execution.trader), pairIndex: execution.pairIndex, fill })
}

/**
 * Adds the refusal of a close or a change of a position, which charges the position a fee. `returned` is the collateral
 * that the request had taken from the wallet and that came back. A refusal without a cost is no entry.
 */
export async function addUpdateRefused(
  tx: TransactionScope,
  of: {
    readonly trader: `0x${string}`
    readonly tradeIndex: number
    readonly logIndex: number
    readonly returned: CollateralAmount
  },
): Promise<void> {
  const trader = traderOf(of.trader)
  const positionId = await tx.scope.findPosition(trader, of.tradeIndex)
  const position = positionId === undefined ? undefined : await tx.scope.readPositionState(positionId)
  if (positionId === undefined || position === undefined) return
  const { value, ...charges } = await tx.books.take(positionId)
  if (charges.feeCollateral === 0n && value.before === value.after) return
  const { trade } = position
  const action: FillAction = 'TradeUpdateRefused'
  const told = { ...charges, pnl: CollateralAmount.zero, deposit: of.returned, payout: of.returned }
  await addEntry(tx, {
    ...trade,
    ...REFUSED,
    action,
    trader,
    side: sideOf(trade.long),
    positionId,
    logIndex: of.logIndex,
    amounts: bookEntry(action, told, value),
  })
}

/**
 * Adds the refusal of a market open, which returns the collateral less a fee; `at` is the index of its event in the
 * transaction. There is no position, so the entry names the order.
 */
export async function addOpenRefused(
  tx: TransactionScope,
  { args, logIndex }: EventOf<'MarketOpenCanceled'> & PlacedEvent,
  at: number,
  orderId: OrderId,
): Promise<void> {
  const order = await tx.scope.reads.order(orderId)
  if (order === undefined) return
  const { pairIndex, collateralIndex, side, leverage } = order.record.request
  const feeCollateral = refusalFee(tx.transaction.events.slice(0, at), args.trader, collateralIndex)
  if (feeCollateral === 0n) return
  const payout = CollateralAmount.of(args.collateralReturned)
  const deposit = CollateralAmount.of(payout + feeCollateral)
  const action: FillAction = 'TradeOpenRefused'
  const none = CollateralAmount.zero
  const told = { pnl: none, feeCollateral, fundingFee: none, borrowingFee: none, deposit, payout }
  await addEntry(tx, {
    ...REFUSED,
    action,
    trader: traderOf(args.trader),
    pairIndex,
    collateralIndex,
    side,
    collateralAmount: deposit,
    leverage,
    positionId: orderId,
    logIndex,
    amounts: bookEntry(action, told, { before: none, after: none }),
  })
}

/** Nothing is traded at no price by a refusal. */
const REFUSED = { price: Price.zero, size: '0' as Decimal }

/** Events that end the answer to one request of a transaction. */
const ANSWERED: ReadonlySet<PlacedEvent['name']> = new Set([
  'MarketExecuted',
  'LimitExecuted',
  'MarketOpenCanceled',
  'MarketCloseCanceled',
  'LeverageUpdateExecuted',
  'PositionSizeIncreaseExecuted',
  'PositionSizeDecreaseExecuted',
  'TradePositivePnlWithdrawn',
])

/** Returns the fee that a refusal charged; the Diamond logs it after the answer before, and before the refusal. */
function refusalFee(before: readonly PlacedEvent[], trader: `0x${string}`, collateralIndex: number): CollateralAmount {
  const own = before.slice(before.findLastIndex(({ name }) => ANSWERED.has(name)) + 1)
  const fee = own.find(
    (event): event is EventOf<'GovFeeCharged'> & PlacedEvent =>
      event.name === 'GovFeeCharged' && event.args.trader === trader && event.args.collateralIndex === collateralIndex,
  )
  return fee === undefined ? CollateralAmount.zero : CollateralAmount.of(fee.args.amountCollateral)
}

/** Adds the payout of profit from an open position, which charges it a fee. A trader of the live contracts can ask. */
export async function addPnlWithdrawn(
  tx: TransactionScope,
  { args, logIndex }: EventOf<'TradePositivePnlWithdrawn'> & PlacedEvent,
): Promise<void> {
  const positionId = await tx.scope.findPosition(traderOf(args.trader), args.index)
  if (positionId === undefined) return
  const payout = CollateralAmount.of(args.pnlWithdrawnCollateral)
  await addChange(tx, positionId, { price: Price.of(args.currentPairPrice), payout, logIndex })
}

/**
 * Adds an entry for each position whose holding fees the transaction realised and nothing else: a trader of the live
 * contracts can ask for that.
 */
export async function addRealizedHoldingFees(tx: TransactionScope): Promise<void> {
  for (const positionId of tx.books.withHoldingFees()) {
    const trade = (await tx.scope.readPositionState(positionId))?.trade
    const realized = tx.transaction.events.findLast(
      (event): event is EventOf<'HoldingFeesChargedOnTrade' | 'HoldingFeesRealizedOnTrade'> & PlacedEvent =>
        (event.name === 'HoldingFeesChargedOnTrade' || event.name === 'HoldingFeesRealizedOnTrade') &&
        event.args.trader === trade?.user &&
        event.args.index === trade.index,
    )
    if (realized === undefined) continue
    const { args, logIndex } = realized
    const price = Price.of(args.currentPairPrice)
    await addChange(tx, positionId, { price, payout: CollateralAmount.zero, logIndex })
  }
}

/** Adds a change of a position that leaves its leverage and size as they were, with the fees that it was charged. */
async function addChange(
  tx: TransactionScope,
  positionId: OrderId,
  of: { readonly price: Price; readonly payout: CollateralAmount; readonly logIndex: number },
): Promise<void> {
  const position = await tx.scope.readPositionState(positionId)
  if (position === undefined) return
  const { trade, info } = position
  const { feeCollateral } = tx.books.charged(positionId)
  await addFill(tx, {
    ...trade,
    ...of,
    action: 'TradeLeverageUpdate',
    trader: trade.user,
    side: sideOf(trade.long),
    size: sizeDecimal(withTokens(tx.scope.markets, trade), info),
    feeCollateral,
    pnlCollateral: CollateralAmount.zero,
    deposit: CollateralAmount.zero,
    positionId,
  })
}

interface Entry extends Pick<
  Execution,
  'action' | 'pairIndex' | 'collateralIndex' | 'side' | 'price' | 'size' | 'collateralAmount' | 'logIndex'
> {
  readonly trader: Address
  /** Leverage: a decimal, or scaled by 1e3 as on the chain. */
  readonly leverage: number | Decimal
  readonly positionId: OrderId
  readonly amounts: BookedAmounts
}

async function addEntry(tx: TransactionScope, entry: Entry): Promise<StoredFill> {
  const { sql, chain, markets, block } = tx.scope
  const { decimals, symbol } = collateralOf(markets, entry.collateralIndex)
  const { action, side, trader, pairIndex, positionId, leverage, amounts } = entry
  const text = (amount: CollateralAmount): Decimal => CollateralAmount.format(amount, decimals)
  const fill = {
    id: Number(await tx.scope.takeFillId(entry.logIndex)),
    market: symbolOf(markets, pairIndex),
    action,
    side,
    price: Price.format(entry.price),
    size: entry.size,
    collateral: text(entry.collateralAmount),
    leverage: typeof leverage === 'number' ? leverageDecimal({ leverage }) : leverage,
    pnl: text(amounts.pnl),
    timestamp: block.timestampMs,
    txHash: tx.transaction.hash,
    positionId,
    collateralSymbol: symbol,
    feeCollateral: text(amounts.feeCollateral),
    fundingFee: text(amounts.fundingFee),
    borrowingFee: text(amounts.borrowingFee),
    deposit: text(amounts.deposit),
    payout: text(amounts.payout),
    forfeited: text(amounts.forfeited),
    netPnl: text(amounts.netPnl),
  } satisfies Omit<FillHistoryEntry, 'orderId' | 'clientId'>
  await insertFill(sql, { chain, trader, pairIndex, place: tx.placeOf(entry.logIndex), fill })
  return fill
}
