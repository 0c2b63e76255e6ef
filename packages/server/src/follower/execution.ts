import { formatDecimal, type Decimal, type Fill, type FillAction, type OrderId, type Side } from '@bezel/protocol'
import { insertFill } from '../store/fillStore.ts'
import { collateralOf, leverageDecimal, priceDecimal, symbolOf } from '../trading/amounts.ts'
import { traderOf, type TransactionScope } from './transactionScope.ts'

/** Something that was traded, in the chain's scales except for the size. */
export interface Execution {
  readonly action: FillAction
  readonly trader: `0x${string}`
  readonly pairIndex: number
  readonly collateralIndex: number
  /** Of the position. */
  readonly side: Side
  readonly price: bigint
  /** Base units. */
  readonly size: Decimal
  readonly collateralAmount: bigint
  readonly leverage: number | bigint
  readonly feeCollateral: bigint
  /** Price profit of what was closed, before fees. */
  readonly pnlCollateral: bigint
  /** `null`: of a position that was opened before the follower began. */
  readonly positionId: OrderId | null
  readonly logIndex: number
}

/** As its order shows it. */
export function fillOf({ scope, transaction }: TransactionScope, execution: Execution): Fill {
  const { decimals } = collateralOf(scope.markets, execution.collateralIndex)
  return {
    price: priceDecimal(execution.price),
    size: execution.size,
    collateral: formatDecimal(execution.collateralAmount, decimals),
    feeCollateral: formatDecimal(execution.feeCollateral, decimals),
    txHash: transaction.hash,
    timestamp: scope.block.timestampMs,
    positionId: execution.positionId,
  }
}

/** Into the history of fills, if the position is known. */
export async function addFill(tx: TransactionScope, execution: Execution): Promise<void> {
  const { sql, chain, markets, block, journal } = tx.scope
  const { decimals } = collateralOf(markets, execution.collateralIndex)
  const { action, side, pairIndex, positionId } = execution
  if (positionId === null) return
  const trader = traderOf(execution.trader)
  const fill = {
    id: Number(await tx.scope.nextId()),
    market: symbolOf(markets, pairIndex),
    action,
    side,
    price: priceDecimal(execution.price),
    size: execution.size,
    collateral: formatDecimal(execution.collateralAmount, decimals),
    leverage: leverageDecimal(execution.leverage),
    pnl: formatDecimal(execution.pnlCollateral, decimals),
    timestamp: block.timestampMs,
    txHash: tx.transaction.hash,
    positionId,
  }
  await insertFill(sql, { chain, trader, pairIndex, place: tx.placeOf(execution.logIndex), fill })
  journal.execution({ trader, pairIndex, fill })
}
