import { PendingOrderType, type Address, type OrderId } from '@bezel/protocol'
import { findOrderByOrigin, renewOrder } from '../store/orderStore.ts'
import type { OrderRequest } from '../trading/orders/orderModel.ts'
import type { PositionState } from '../trading/positions/positionModel.ts'
import type { Trade } from '../trading/valuation/chainState.ts'
import { partByCollateral, partByLeverage } from '../trading/valuation/partialClose.ts'
import type { EventOf } from '../chain/events/index.ts'
import {
  askedSizeDecimal,
  collateralOf,
  leverageDecimal,
  slippageDecimal,
  symbolOf,
  tokensDecimal,
  triggerDecimal,
} from '../trading/amounts.ts'
import type { BlockScope } from './blockScope.ts'
import { sideOf, type Creation } from '../chain/creation.ts'
import { UNCOUNTED, type Charge } from './matchCreation.ts'

// Orders that were found on the chain and are none of ours: their request is what the chain says was asked for.

type PendingOrder = EventOf<'PendingOrderStored'>['args']['pendingOrder']

/** What the Diamond takes when a position names no closing slippage: 1 %. */
const DEFAULT_CLOSING_SLIPPAGE_P = 1_000

/** The order with this origin: a new one, or the one it had before a reorganisation, which may have changed what the chain says of it. */
export async function foreignOrder(
  scope: BlockScope,
  of: {
    readonly originKey: string
    readonly trader: Address
    readonly request: OrderRequest
    readonly charge?: Charge
  },
): Promise<OrderId> {
  const { sql, chain, block } = scope
  const { originKey, trader, request, charge = UNCOUNTED } = of
  const known = await findOrderByOrigin(sql, chain, originKey)
  if (known !== undefined) {
    await renewOrder(sql, { ...known.record, ...charge, request })
    return known.record.id
  }
  const id = await scope.nextId()
  await scope.addOrder({ id, chain, originKey, trader, request, ...charge, createdAtMs: block.timestampMs })
  return id
}

/** Of a trade that opens a position, now or when its trigger is reached. */
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
    // The log does not tell what the collateral was worth, so today's price stands for it.
    size: askedSizeDecimal(trade, trade.openPrice, collateral.state),
    price: of.type === 'market' ? null : triggerDecimal(trade.openPrice),
    leverage: leverageDecimal(trade.leverage),
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

/** Of a market close or partial close, or of a size increase. `undefined` position: it was opened before the follower began. */
export async function requestOnPosition(
  scope: BlockScope,
  { trade, orderType, maxSlippageP }: PendingOrder,
  creation: Creation,
): Promise<OrderRequest | undefined> {
  const positionId = await scope.positionOf(creation.trader, trade.index)
  const position = positionId === undefined ? undefined : await scope.stateOf(positionId)
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

/** What of a position a pending order closes: all of it unless it says which part. */
function partOf(position: Trade, asked: Trade, orderType: number): Trade {
  if (orderType === PendingOrderType.MARKET_CLOSE) return position
  if (asked.leverage > 0) return partByLeverage(position, asked.leverage)
  return partByCollateral(position, asked.collateralAmount)
}

/** Of the close of a part of a position, by its trader. */
export function closeRequest(
  { markets }: Pick<BlockScope, 'markets'>,
  { trade, info }: PositionState,
  { positionId, part }: { readonly positionId: OrderId; readonly part: Trade },
): OrderRequest {
  const size = tokensDecimal(part.positionSizeToken, BigInt(info.collateralPriceUsd))
  return {
    kind: 'close',
    market: symbolOf(markets, trade.pairIndex),
    pairIndex: trade.pairIndex,
    side: sideOf(!trade.long),
    type: 'market',
    size,
    price: null,
    leverage: leverageDecimal(trade.leverage),
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
