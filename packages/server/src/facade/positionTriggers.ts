import type { LivePosition } from '../trading/positions/livePosition.ts'
import type { OrderId } from '@bezel/protocol'
import type { TriggerKey, TriggerKind } from '../store/facadeTriggerStore.ts'
import { findOrderByOrigin } from '../store/orderStore.ts'
import { findPosition, type StoredPosition } from '../store/positionStore.ts'
import { baseSizeOfTokens } from '../trading/valuation/collateralAmounts.ts'
import type { PositionState } from '../trading/positions/positionModel.ts'
import { coinsOf, szOf, type Coin } from './coins.ts'
import { triggerTerms, type FacadeOrder, type FacadeOrderStatus, type FacadeStatus } from './facadeOrder.ts'
import type { FacadeReads } from './facadeReads.ts'
import { nearestPx, pointed } from './priceText.ts'
import { originOfTrigger } from './triggers.ts'

const KINDS: readonly TriggerKind[] = ['tp', 'sl']

/** Take profits and stop losses of open positions as orders. */
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

/** One of them by its id, also when it is over. `undefined` when there is none of this trader. */
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

/** It waits while the position is open and its price is set; it was executed when the chain says that it closed the position. */
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
  const size = pointed(szOf(coin, baseSizeOfTokens(trade.positionSizeToken, BigInt(info.collateralPriceUsd))))
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
