import { PendingOrderType, withScales, type Address, type OrderId } from '@bezel/protocol'
import { renewOrder } from '../store/orderStore.ts'
import type { OrderRequest } from '../trading/orders/orderModel.ts'
import type { PositionState } from '../trading/positions/positionModel.ts'
import type { Trade } from '../trading/valuation/chainState.ts'
import { partByCollateral, partByLeverage } from '../trading/valuation/resizing.ts'
import type { EventOf } from '../chain/events.ts'
import {
  askedSizeDecimal,
  collateralOf,
  leverageDecimal,
  sizeDecimal,
  slippageDecimal,
  symbolOf,
  triggerDecimal,
  withTokens,
} from '../trading/market/amounts.ts'
import type { BlockScope } from './blockScope.ts'
import { sideOf, type Creation } from '../chain/creation.ts'
import { UNCOUNTED, type Charge } from './matchCreation.ts'

// Orders that were found on the chain but were not prepared by this service. Their requests are reconstructed from
// events.

type PendingOrder = EventOf<'PendingOrderStored'>['args']['pendingOrder']

/** The Diamond's closing slippage for a position that names none: 1 %, scaled by 1e3. */
const DEFAULT_CLOSING_SLIPPAGE_P = 1_000

/**
 * Stores the order with this origin key. An order that had the key before a reorganisation is kept and gets the new
 * request, because the new chain may tell it differently; so is one that had been found on the chain under `foundKey`.
 */
export async function keepForeignOrder(
  scope: BlockScope,
  of: {
    readonly originKey: string
    /** Key under which a snapshot would have stored the order. Left out: none would have. */
    readonly foundKey?: string
    readonly trader: Address
    readonly request: OrderRequest
    readonly charge?: Charge
  },
): Promise<OrderId> {
  const { sql, reads, chain, block } = scope
  const { originKey, foundKey, trader, request, charge = UNCOUNTED } = of
  const found = foundKey === undefined ? undefined : await reads.orderByOrigin(foundKey)
  const known = (await reads.orderByOrigin(originKey)) ?? found
  if (known !== undefined) {
    // An order that counts is as it was: its block is applied again, without having been undone.
    if (known.spendDay === undefined) {
      await renewOrder(sql, { ...known.record, ...charge, request })
      reads.order.forget(known.record.id)
      reads.orderByOrigin.forget()
    }
    return known.record.id
  }
  const id = await scope.takeId()
  await scope.addOrder({ id, chain, originKey, trader, request, ...charge, createdAtMs: block.timestampMs })
  return id
}

/** Returns the request of a trade that opens a position, now or when its trigger is reached. */
export function openRequest(
  { markets }: Pick<BlockScope, 'markets'>,
  trade: Trade,
  of: Pick<Creation, 'type'> & { readonly slippageP: number },
): OrderRequest {
  const collateral = collateralOf(markets, trade.collateralIndex)
  return {
    kind: 'open',
    market: symbolOf(markets, trade.pairIndex),
    pairIndex: trade.pairIndex,
    side: sideOf(trade.long),
    type: of.type,
    // The log does not contain the price of the collateral, so the current one is used.
    size: askedSizeDecimal(trade, trade.openPrice, collateral.state),
    price: of.type === 'market' ? null : triggerDecimal(trade.openPrice),
    leverage: leverageDecimal(trade),
    collateral: collateral.symbol,
    collateralIndex: trade.collateralIndex,
    sl: triggerDecimal(trade.sl),
    tp: triggerDecimal(trade.tp),
    reduceOnly: false,
    slippage: slippageDecimal(of.slippageP),
    clientId: null,
    legs: [],
  }
}

/**
 * Reconstructs the request of a market close, a partial close or a size increase; `undefined` when the position was
 * opened before the follower's first block.
 */
export async function readRequestOnPosition(
  scope: BlockScope,
  { trade: stored, orderType, maxSlippageP }: PendingOrder,
  creation: Creation,
): Promise<OrderRequest | undefined> {
  const trade = withScales<Trade>(stored)
  const positionId = await scope.findPosition(creation.trader, trade.index)
  const position = positionId === undefined ? undefined : await scope.readPositionState(positionId)
  if (positionId === undefined || position === undefined) return undefined
  const slippageP = maxSlippageP === 0 ? DEFAULT_CLOSING_SLIPPAGE_P : maxSlippageP
  if (creation.kind === 'increase') return increaseRequest(scope, position, trade, slippageP)
  const part = partOf(position.trade, trade, orderType)
  return { ...closeRequest(scope, position, { positionId, part }), slippage: slippageDecimal(slippageP) }
}

function increaseRequest(scope: BlockScope, position: PositionState, asked: Trade, slippageP: number): OrderRequest {
  const base = asked.collateralAmount > 0n ? asked.collateralAmount : position.trade.collateralAmount
  const trade = { ...position.trade, collateralAmount: base, leverage: asked.leverage, openPrice: asked.openPrice }
  return { ...openRequest(scope, trade, { type: 'market', slippageP }), kind: 'increase', sl: null, tp: null }
}

/**
 * Returns the part of a position that a pending order closes: the whole position for a full close, else the part given
 * by leverage or collateral.
 */
function partOf(position: Trade, asked: Trade, orderType: number): Trade {
  if (orderType === PendingOrderType.MARKET_CLOSE) return position
  if (asked.leverage > 0) return partByLeverage(position, asked.leverage)
  return partByCollateral(position, asked.collateralAmount)
}

/** Returns the request of a market close of `part` of a position. */
export function closeRequest(
  { markets }: Pick<BlockScope, 'markets'>,
  { trade, info }: PositionState,
  { positionId, part }: { readonly positionId: OrderId; readonly part: Trade },
): OrderRequest {
  const size = sizeDecimal(withTokens(markets, part), info)
  return {
    kind: 'close',
    market: symbolOf(markets, trade.pairIndex),
    pairIndex: trade.pairIndex,
    side: sideOf(!trade.long),
    type: 'market',
    size,
    price: null,
    leverage: leverageDecimal(trade),
    collateral: collateralOf(markets, trade.collateralIndex).symbol,
    collateralIndex: trade.collateralIndex,
    sl: null,
    tp: null,
    reduceOnly: true,
    slippage: slippageDecimal(DEFAULT_CLOSING_SLIPPAGE_P),
    clientId: null,
    legs: [{ positionId, tradeIndex: trade.index, size }],
  }
}
