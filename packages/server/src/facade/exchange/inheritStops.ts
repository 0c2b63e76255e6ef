import type { FastifyBaseLogger } from 'fastify'
import { Price, type Decimal, type Hex, type OrderId } from '@bezel/protocol'
import { createLru } from '../../ground/lru.ts'
import { updatePosition } from '../../orders/updatePosition.ts'
import {
  deleteInheriting,
  listEndedInheriting,
  type EndedInheriting,
  type TriggerKind,
} from '../../store/facadeTriggerStore.ts'
import { insertRestore } from '../../store/facadeChoreStore.ts'
import { findPositionByOrigin } from '../../store/positionStore.ts'
import { isTight } from '../../trading/plan/closingSlippage.ts'
import { marketOfPair } from '../../trading/plan/listed.ts'
import type { LivePosition } from '../../trading/positions/positionModel.ts'
import { wholeKeyOf } from '../triggers.ts'
import { presentOf, type TradingParts } from './exchangeParts.ts'
import { facadeAgent, relayed } from './relayed.ts'
import { hasStop, stopsInForce } from './stopsInForce.ts'

/** Brings the triggers of added trades in line with those of the position that they were added to. */
interface StopInheritance {
  run(log: Pick<FastifyBaseLogger, 'warn'>): Promise<void>
}

/** The number of ended orders looked at in one round. The others follow in the next rounds. */
const PAGE = 200

/**
 * Age at which a change that is not on the chain counts as failed, and is sent again. Also the pause after a refusal.
 * Each further pause is twice as long, up to `MAX_PAUSE_MS`.
 */
const SEND_AGAIN_MS = 15_000
const MAX_PAUSE_MS = 600_000

/** Age at which an order that the chain never had is forgotten. Its transaction has expired long before. */
const NEVER_MINED_MS = 3_600_000
const MAX_REMEMBERED = 10_000

/**
 * Follows orders that open until their end is final. The trade of a filled one gets the triggers in force of the older
 * trades of its coin and side, unless it has them: a resting order carries only those that the contracts take for its
 * own price, and they may have changed since. The oldest trade keeps its own. A trade that once had them may be changed
 * natively afterwards, and is looked at again only where a reorganisation executes its order anew.
 */
export function createStopInheritance(parts: TradingParts): StopInheritance {
  const { orders, store, now } = parts
  const pauses = createLru<OrderId, Pause>(MAX_REMEMBERED)
  /** The block that executed the order of a trade which had the triggers of its position then or later. */
  const inLineSince = createLru<OrderId, Hex>(MAX_REMEMBERED)
  /** The last followed block whose orders were looked at: orders end with blocks. */
  let seenBlock = -1
  /**
   * The last order that was looked at. The next round continues after it, so those that wait do not block the others.
   */
  let place: OrderId | null = null

  /** Returns true when nothing is left to do for an order, unless its end is undone. */
  async function bringInLine(order: EndedInheriting, round: Round): Promise<boolean> {
    const { orderId, endedAt } = order
    if (endedAt !== null && inLineSince.get(orderId) === endedAt.blockHash) return true
    const stored = await findPositionByOrigin(store.read, orderId)
    if (stored?.state?.isOpen !== true) return true
    const position = orders.positions.find(stored.record.id)
    // The memory of positions follows a commit a moment later.
    if (position === undefined) return false
    const changes = await changesOf(parts, position, order.kinds, round)
    if (changes === 'later') return false
    if (Object.keys(changes).length === 0) {
      pauses.delete(orderId)
      if (endedAt !== null) inLineSince.set(orderId, endedAt.blockHash)
      return true
    }
    await change(orderId, position, changes)
    return false
  }

  /** Sends the change of a trade, unless one was sent or refused a moment ago. Throws the refusal. */
  async function change(orderId: OrderId, position: LivePosition, changes: Changes): Promise<void> {
    const { record } = position
    const { untilMs, lengthMs } = pauses.get(orderId) ?? { untilMs: 0, lengthMs: SEND_AGAIN_MS }
    if (untilMs > now()) return
    pauses.set(orderId, { untilMs: now() + lengthMs, lengthMs: Math.min(2 * lengthMs, MAX_PAUSE_MS) })
    const agent = await facadeAgent(parts, { trader: record.trader, agent: null })
    if (agent === undefined) throw new Error('the trader has no agent in force')
    const context = { parts, agent, expiresAfter: null }
    await relayed(
      context,
      (write) => updatePosition(orders, write, record.id, changes),
      async (sql) => {
        if (isTight(position)) await insertRestore(sql, record.chain, record.id)
      },
    )
  }

  return {
    async run(log) {
      const { slug: chain } = orders.chain
      const { headBlock } = orders.clock()
      if (headBlock === seenBlock && place === null) return
      seenBlock = headBlock
      const ended = await listEndedInheriting(store.read, chain, { after: place, limit: PAGE })
      place = ended.length < PAGE ? null : ended.at(-1)!.orderId
      const isWaiting = ({ orderId, endedAt }: EndedInheriting): boolean =>
        endedAt === null || inLineSince.get(orderId) !== endedAt.blockHash
      const waiting = new Map(ended.filter(isWaiting).map(({ orderId, kinds }) => [orderId, kinds]))
      for (const order of ended) {
        try {
          if (!(await bringInLine(order, { waiting }))) continue
          waiting.delete(order.orderId)
          if (isFinal(parts, order)) await store.transaction({ chain }, (sql) => deleteInheriting(sql, order.orderId))
        } catch (error) {
          log.warn(
            { chain, order: order.orderId, err: error },
            'an added trade could not get the triggers of its position; it is tried again',
          )
        }
      }
    },
  }
}

/** The time until which nothing is sent for a trade, and the length of the next such pause. */
interface Pause {
  readonly untilMs: number
  readonly lengthMs: number
}

/** The orders of a round whose trades may not have the triggers of their position yet, with the kinds of those. */
interface Round {
  readonly waiting: ReadonlyMap<OrderId, readonly TriggerKind[]>
}

type Changes = Readonly<Partial<Record<TriggerKind, Decimal>>>

/**
 * Returns the triggers that a trade lacks; `later` while they are changing, while no older trade has them for sure, or
 * while not everything of the trader is known, so that the older trades may be missing.
 */
async function changesOf(
  parts: TradingParts,
  position: LivePosition,
  kinds: readonly TriggerKind[],
  { waiting }: Round,
): Promise<Changes | 'later'> {
  const { orders, reads, relayer } = parts
  const { pairIndex, long } = position.state.trade
  if (!orders.isKnown(position.record.trader)) return 'later'
  const older = orders.positions
    .ofTrader(position.record.trader)
    .filter(({ state: { trade, isOpen } }) => isOpen && trade.pairIndex === pairIndex && trade.long === long)
    .filter((other) => isOlder(other, position))
  if (older.length === 0) return {}
  const market = marketOfPair(orders.trading().chain, pairIndex)
  const changes: Partial<Record<TriggerKind, Decimal>> = {}
  let isLater = false
  for (const kind of kinds) {
    const settled = older.filter(({ record }) => waiting.get(record.originOrderId)?.includes(kind) !== true)
    const price = (await stopsInForce(parts, settled))[kind] ?? Price.zero
    isLater ||=
      settled.length === 0 || (await reads.triggers.onItsWay(wholeKeyOf(position, kind), relayer)) !== undefined
    const [present] = presentOf(orders, [position])
    if (settled.length > 0 && !hasStop(present!, kind, price, market)) changes[kind] = Price.format(price)
  }
  return isLater && Object.keys(changes).length === 0 ? 'later' : changes
}

/** True when no reorganisation can undo the end of an order, nor a late transaction begin it. */
function isFinal({ orders, now }: TradingParts, { endedAt, createdAtMs }: EndedInheriting): boolean {
  if (endedAt === null) return now() - createdAtMs > NEVER_MINED_MS
  return orders.lastFinal() >= endedAt.blockNumber
}

/** True when a trade was opened before another one. Ids are given in the order of the chain. */
function isOlder(a: LivePosition, b: LivePosition): boolean {
  const [first, second] = [a.state.openedAtBlock, b.state.openedAtBlock]
  return first < second || (first === second && BigInt(a.record.id) < BigInt(b.record.id))
}
