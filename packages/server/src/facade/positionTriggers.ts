import type { LivePosition, PositionState } from '../trading/positions/positionModel.ts'
import { BaseSize, CollateralPrice, type Address, type Decimal, type OrderId } from '@bezel/protocol'
import { listClosedParts, type FoundTrigger, type TriggerKey, type TriggerKind } from '../store/facadeTriggerStore.ts'
import { findOrderByOrigin } from '../store/orderStore.ts'
import { findPosition } from '../store/positionStore.ts'
import { withTokens } from '../trading/market/amounts.ts'
import type { ChainMarkets } from '../trading/market/chainMarkets.ts'
import { baseSizeOfTokens } from '../trading/valuation/collateralAmounts.ts'
import { coinsOf, szOf, type Coin } from './coins.ts'
import { triggerTerms, type FacadeOrder, type FacadeOrderStatus, type FacadeStatus } from './facadeOrder.ts'
import type { FacadeReads } from './facadeReads.ts'
import { nearestPx, pointed } from './priceText.ts'
import { originOfTrigger } from './triggers.ts'

/** Lists the take profits and stop losses of one trader's open positions as orders. */
export async function openTriggers(
  reads: FacadeReads,
  positions: readonly LivePosition[],
): Promise<FacadeOrderStatus[]> {
  const { universe } = coinsOf(reads.markets())
  const listed = await reads.triggers.list(positions)
  const executed = await readExecuted(
    reads,
    listed.map(({ oid }) => oid),
  )
  return listed.flatMap(({ oid, kind, parts }) => {
    const states = parts.map(({ state }) => state)
    const coin = universe[states[0]!.trade.pairIndex]
    const sizes = { left: sizeOf(states, reads.markets()), executed: executed.get(oid) ?? BaseSize.zero }
    return coin === undefined ? [] : [triggerStatus(coin, kind, states, { oid, status: 'open', ...sizes })]
  })
}

/** Reads the sizes that trigger orders have closed already, by order id. */
async function readExecuted(reads: FacadeReads, oids: readonly OrderId[]): Promise<ReadonlyMap<OrderId, BaseSize>> {
  const executed = new Map<OrderId, BaseSize>()
  for (const { oid, ...key } of await listClosedParts(reads.sql, oids)) {
    const size = await readExecutedSize(reads, key)
    executed.set(oid, BaseSize.of((executed.get(oid) ?? 0n) + (size ?? 0n)))
  }
  return executed
}

/** Reads the size that the trigger of a trade closed; `undefined` when it closed nothing. */
async function readExecutedSize({ chain, sql }: FacadeReads, key: TriggerKey): Promise<BaseSize | undefined> {
  const execution = await findOrderByOrigin(sql, chain, originOfTrigger(key))
  if (execution?.state?.status !== 'filled') return undefined
  return BaseSize.parseTruncated((execution.state.fill?.size ?? '0') as Decimal)
}

/** A trade of a trigger order that may be over. */
interface OrderPart {
  readonly state: PositionState
  /** The size that the trigger closed; `undefined` when it closed nothing. */
  readonly executed: BaseSize | undefined
  /** True when the trigger of the trade belongs to another order now. */
  readonly isFormer: boolean
}

/**
 * Finds a take profit or stop loss by its id, also one that is over. `undefined` when this trader has none with the id.
 * Trades that belong to another order now count only where it has no others, as one that was replaced.
 */
export async function findTriggerOrder(
  reads: FacadeReads,
  trader: Address,
  oid: OrderId,
): Promise<FacadeOrderStatus | undefined> {
  // The id may go on to another trade since the last list, when the trade that had it was closed.
  await reads.triggers.list(reads.positionsOf(trader))
  const found = await reads.triggers.find(oid)
  const all = found === undefined ? [] : await readParts(reads, trader, found)
  const coin = all[0] && coinsOf(reads.markets()).universe[all[0].state.trade.pairIndex]
  if (found === undefined || coin === undefined) return undefined
  const present = all.filter(({ isFormer }) => !isFormer)
  const parts = present.length > 0 ? present : all
  const executed = BaseSize.of(parts.reduce((size, part) => size + (part.executed ?? 0n), 0n))
  const waiting = parts.filter((part) => isHeld(part, found.kind) && part.state.isOpen)
  const status = waiting.length > 0 ? 'open' : statusOfEnded(parts, found.kind)
  const left = (status === 'open' ? waiting : parts).filter((part) => part.executed === undefined)
  const states = (waiting.length > 0 ? waiting : parts).map(({ state }) => state)
  const sizes = {
    left:
      status === 'filled'
        ? BaseSize.zero
        : sizeOf(
            left.map(({ state }) => state),
            reads.markets(),
          ),
    executed,
  }
  return triggerStatus(coin, found.kind, states, { oid, status, ...sizes })
}

async function readParts(
  reads: FacadeReads,
  trader: Address,
  { kind, parts, formerParts }: FoundTrigger,
): Promise<readonly OrderPart[]> {
  const found = await Promise.all(
    [...parts, ...formerParts].map(async (positionId): Promise<readonly OrderPart[]> => {
      const position = await findPosition(reads.sql, positionId)
      const isOwn = position?.record.chain === reads.chain && position.record.trader === trader
      if (position?.state === undefined || !isOwn) return []
      const isFormer = !parts.includes(positionId)
      const executed =
        isFormer || position.state.isOpen ? undefined : await readExecutedSize(reads, { positionId, kind })
      return [{ state: position.state, executed, isFormer }]
    }),
  )
  return found.flat()
}

/** True when the trade has the trigger, or had it to its end. */
function isHeld({ state, isFormer }: OrderPart, kind: TriggerKind): boolean {
  return !isFormer && state.trade[kind] > 0n
}

/**
 * Returns the status of an order that no open trade has any more: filled when it closed trades and was taken from none,
 * else canceled.
 */
function statusOfEnded(parts: readonly OrderPart[], kind: TriggerKind): FacadeStatus {
  const isTaken = parts.some((part) => !isHeld(part, kind))
  return !isTaken && parts.some(({ executed }) => executed !== undefined) ? 'filled' : 'canceled'
}

function sizeOf(states: readonly PositionState[], chain: ChainMarkets): BaseSize {
  return BaseSize.of(
    states.reduce((size, { trade, info }) => {
      const price = CollateralPrice.of(info.collateralPriceUsd)
      return size + baseSizeOfTokens(withTokens(chain, trade).positionSizeToken, price)
    }, 0n),
  )
}

/** Writes a trigger order. `states` are its trades, oldest first. */
function triggerStatus(
  coin: Coin,
  kind: TriggerKind,
  states: readonly PositionState[],
  of: { readonly oid: OrderId; readonly status: FacadeStatus; readonly left: BaseSize; readonly executed: BaseSize },
): FacadeOrderStatus {
  const [{ trade, openedAtMs }] = states as readonly [PositionState]
  const px = nearestPx(coin, trade[kind])
  const side = trade.long ? 'A' : 'B'
  const sz = (size: BaseSize): string => pointed(szOf(coin, size))
  const order: FacadeOrder = {
    coin: coin.name,
    side,
    limitPx: px,
    sz: sz(of.left),
    oid: Number(of.oid),
    timestamp: openedAtMs,
    ...triggerTerms(kind, side, px),
    children: [],
    isPositionTpsl: true,
    reduceOnly: true,
    origSz: sz(BaseSize.of(of.left + of.executed)),
    cloid: null,
  }
  return { order, status: of.status, statusTimestamp: Math.max(...states.map(({ updatedAtMs }) => updatedAtMs)) }
}
