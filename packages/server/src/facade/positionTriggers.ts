import type { LivePosition, PositionState } from '../trading/positions/positionModel.ts'
import { CollateralPrice, type OrderId } from '@bezel/protocol'
import type { TriggerKey, TriggerKind } from '../store/facadeTriggerStore.ts'
import { findOrderByOrigin } from '../store/orderStore.ts'
import { findPosition, type StoredPosition } from '../store/positionStore.ts'
import { baseSizeOfTokens } from '../trading/valuation/collateralAmounts.ts'
import { coinsOf, szOf, type Coin } from './coins.ts'
import { triggerTerms, type FacadeOrder, type FacadeOrderStatus, type FacadeStatus } from './facadeOrder.ts'
import type { FacadeReads } from './facadeReads.ts'
import { nearestPx, pointed } from './priceText.ts'
import { originOfTrigger } from './triggers.ts'

const KINDS: readonly TriggerKind[] = ['tp', 'sl']

/** Lists the take profits and stop losses of open positions as orders. */
export async function openTriggers(
  reads: FacadeReads,
  positions: readonly LivePosition[],
): Promise<FacadeOrderStatus[]> {
  const { universe } = coinsOf(reads.markets())
  const waiting = positions.flatMap(({ record, state }) =>
    KINDS.filter((kind) => state.trade[kind] > 0n).map((kind) => ({ key: { positionId: record.id, kind }, state })),
  )
  const oids = await reads.triggers.oidsOf(waiting.map(({ key }) => key))
  return waiting.flatMap(({ key, state }, at) => {
    const coin = universe[state.trade.pairIndex]
    return coin === undefined ? [] : [triggerStatus(coin, key.kind, state, oids[at]!, 'open')]
  })
}

/**
 * Finds a take profit or stop loss by its id, also one that is over. `undefined` when this trader has none with the id.
 */
export async function findTriggerOrder(
  reads: FacadeReads,
  trader: string,
  oid: OrderId,
): Promise<FacadeOrderStatus | undefined> {
  const key = await reads.triggers.find(oid)
  const position = key && (await findPosition(reads.sql, key.positionId))
  if (key === undefined || position?.state === undefined || !isOf(position, reads, trader)) return undefined
  const coin = coinsOf(reads.markets()).universe[position.state.trade.pairIndex]
  if (coin === undefined) return undefined
  const status = key.isFormer ? 'canceled' : await statusOf(reads, key, position.state)
  return triggerStatus(coin, key.kind, position.state, oid, status)
}

function isOf({ record }: StoredPosition, { chain }: FacadeReads, trader: string): boolean {
  return record.chain === chain && record.trader === trader
}

/**
 * Returns a trigger's status. It is open while the position is open and has its price, and filled when it closed the
 * position on the chain.
 */
async function statusOf({ chain, sql }: FacadeReads, key: TriggerKey, state: PositionState): Promise<FacadeStatus> {
  if (state.isOpen) return state.trade[key.kind] > 0n ? 'open' : 'canceled'
  const execution = await findOrderByOrigin(sql, chain, originOfTrigger(key))
  return execution?.state?.status === 'filled' ? 'filled' : 'canceled'
}

function triggerStatus(
  coin: Coin,
  kind: TriggerKind,
  state: PositionState,
  oid: OrderId,
  status: FacadeStatus,
): FacadeOrderStatus {
  const { trade, info, openedAtMs, updatedAtMs } = state
  const px = nearestPx(coin, trade[kind])
  const side = trade.long ? 'A' : 'B'
  const size = pointed(
    szOf(coin, baseSizeOfTokens(trade.positionSizeToken, CollateralPrice.of(info.collateralPriceUsd))),
  )
  const order: FacadeOrder = {
    coin: coin.name,
    side,
    limitPx: px,
    sz: status === 'filled' ? '0.0' : size,
    oid: Number(oid),
    timestamp: openedAtMs,
    ...triggerTerms(kind, side, px),
    children: [],
    isPositionTpsl: true,
    reduceOnly: true,
    origSz: size,
    cloid: null,
  }
  return { order, status, statusTimestamp: updatedAtMs }
}
