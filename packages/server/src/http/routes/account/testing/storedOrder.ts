import { parseMarketSymbol, Usd, type Address, type Decimal, type OrderId, type OrderStatus } from '@bezel/protocol'
import { insertOrder, saveOrderState } from '../../../../store/orderStore.ts'
import type { Sql } from '../../../../store/sql.ts'
import type { OrderRecord, OrderState } from '../../../../trading/orders/orderModel.ts'

/** The parts of a stored order that tests choose. */
interface StoredOrderTerms extends Partial<Pick<OrderRecord, 'chain' | 'createdAtMs'>> {
  readonly trader: Address
  readonly market?: string
  /** Left out: the order has no state, as after a reorganisation that took it back. */
  readonly status?: OrderStatus | undefined
}

/** Stores a limit order with the `clientId` `order-{id}`. */
export async function storeOrder(sql: Sql, id: number, of: StoredOrderTerms): Promise<void> {
  const record = recordOf(id, of)
  await insertOrder(sql, record)
  await saveOrderState(sql, record.id, of.status && stateOf(record, of.status), undefined)
}

function recordOf(
  id: number,
  { trader, chain = 'base', createdAtMs = 1_000 + id, market = 'BTC/USD' }: StoredOrderTerms,
): OrderRecord {
  const decimal = (text: string) => text as Decimal
  return {
    id: String(id) as OrderId,
    chain,
    trader,
    agent: trader,
    createdAtMs,
    originKey: null,
    spendUsd: Usd.zero,
    request: {
      kind: 'open',
      market: parseMarketSymbol(market)!,
      pairIndex: 0,
      side: 'long',
      type: 'limit',
      size: decimal('0.1'),
      price: decimal('60000'),
      leverage: decimal('10'),
      collateral: 'USDC',
      collateralIndex: 3,
      sl: null,
      tp: null,
      reduceOnly: false,
      slippage: decimal('1'),
      clientId: `order-${id}`,
      legs: [],
    },
  }
}

function stateOf({ request }: OrderRecord, status: OrderStatus): OrderState {
  const { size, price, sl, tp, slippage } = request
  return {
    status,
    size,
    price,
    sl,
    tp,
    slippage,
    txHash: null,
    expiresAtMs: status === 'prepared' ? 5_000 : null,
    fill: null,
    reason: null,
    updatedAtMs: 2_000,
    tradeIndex: null,
    unanswered: [],
    dueAtMs: null,
    dueBlock: null,
    countedSinceMs: 1_000,
  }
}
