import { Price, type Hex, type OrderId } from '@bezel/protocol'
import { createLru } from '../ground/lru.ts'
import {
  findTrigger,
  readPlacedTrigger,
  readTriggerChange,
  readTriggerOid,
  savePlacedTrigger,
  saveTriggerChange,
  saveTriggerOid,
  type FoundTrigger,
  type PlacedTrigger,
  type ChangingTrigger,
  type TriggerKey,
  type TriggerKind,
  type WholeKey,
} from '../store/facadeTriggerStore.ts'
import { takeId } from '../store/orderStore.ts'
import { batchReads } from '../store/pointReads.ts'
import { findPosition } from '../store/positionStore.ts'
import type { Sql, Store } from '../store/sql.ts'
import type { LivePosition } from '../trading/positions/positionModel.ts'

export const TRIGGER_KINDS: readonly TriggerKind[] = ['tp', 'sl']

/**
 * A take profit or stop loss as an order: all open trades of one pair and side that have it at the same price. Natively
 * it is a field of each of those trades.
 */
export interface TriggerOrder {
  readonly oid: OrderId
  readonly kind: TriggerKind
  readonly price: Price
  /** The trades, oldest first; at least one. */
  readonly parts: readonly LivePosition[]
}

/** The price of a trigger order for some trades. */
interface TriggerTerms {
  readonly kind: TriggerKind
  readonly price: Price
  /** Trades of one pair and side, at least one. */
  readonly parts: readonly LivePosition[]
}

/**
 * Trigger orders of the facade and their ids. The chain's trades say which prices there are; stored is only the order
 * that each trade's trigger belongs to, and what clients asked for.
 */
export interface Triggers {
  /** Lists the trigger orders of one trader's open positions. An id is assigned when its order is first listed. */
  list(positions: readonly LivePosition[]): Promise<readonly TriggerOrder[]>
  /** Reads the id of the order that the trigger of a trade belongs to; `undefined` while none is assigned. */
  oidOf(key: TriggerKey): Promise<OrderId | undefined>
  find(oid: OrderId): Promise<FoundTrigger | undefined>
  /** Reads the order that a client last placed or modified for a whole position. */
  placed(key: WholeKey): Promise<PlacedTrigger | undefined>
  /**
   * Makes the triggers of the trades one order, in the transaction that sends their change. Its id is `oid`, or a new
   * one; a new placement must have one of its own, because clients cancel the old order after it. The order counts as
   * the one of the whole position when `isWhole`. `forget` follows once the transaction has committed.
   */
  assign(sql: Sql, of: TriggerTerms & { readonly oid?: OrderId; readonly isWhole: boolean }): Promise<OrderId>
  /** Stores that a client removed the trigger of a whole position, which was this order, as `assign` does. */
  remove(sql: Sql, key: WholeKey, oid: OrderId): Promise<void>
  /** Drops what is remembered of the trades, after a transaction has changed it. */
  forget(of: Pick<TriggerTerms, 'kind' | 'parts'>): void
  /**
   * Stores that the trigger of a position is changing, in the transaction that sends the change. A later change takes
   * the place of this one.
   */
  sent(sql: Sql, key: WholeKey, change: ChangingTrigger): Promise<void>
  /** Reads the transaction of the last change of the trigger of a position that was sent, whatever became of it. */
  lastSent(sql: Sql, key: WholeKey): Promise<Hex | undefined>
  /** Notes that a change has arrived or failed, which this process may see before its relayer does. */
  settled(hash: Hex): void
  /** Reads the last change of the trigger of a position, while the relayer knows it as on its way to the chain. */
  onItsWay(key: WholeKey, relayer: KnowsTheWay): Promise<PlacedTrigger | undefined>
}

/** Tells whether a transaction may still change what is known of the chain. */
interface KnowsTheWay {
  isOnItsWay(hash: Hex): Promise<boolean>
}

/** Number of triggers kept in memory. Others are read from the store again. */
const MAX_KNOWN = 50_000

/** The ids and placements of triggers, in memory as far as they were asked for. */
type TriggerMemory = Pick<Triggers, 'oidOf' | 'placed' | 'forget'>

/** Reads the triggers of a database that other nodes change as well, those of a list together. */
function sharedTriggers(read: Sql): TriggerMemory {
  const sql = batchReads(read)
  return {
    oidOf: (key) => readTriggerOid(sql, key),
    placed: (key) => readPlacedTrigger(sql, key),
    forget() {},
  }
}

function createTriggerMemory(store: Pick<Store, 'read'>): TriggerMemory {
  if (store.read.engine === 'postgres') return sharedTriggers(store.read)
  const oids = createLru<string, OrderId>(MAX_KNOWN)
  /** `null` where no order was placed. */
  const placements = createLru<string, PlacedTrigger | null>(MAX_KNOWN)
  /** Increases when something remembered is dropped, so that a value read before that is not remembered after it. */
  let generation = 0

  async function recall<Value>(
    known: { get(key: string): Value | undefined; set(key: string, value: Value): void },
    key: string,
    read: () => Promise<Value | undefined>,
  ): Promise<Value | undefined> {
    const found = known.get(key)
    if (found !== undefined) return found
    const before = generation
    const value = await read()
    if (value !== undefined && generation === before) known.set(key, value)
    return value
  }

  return {
    oidOf: (key) => recall(oids, textOf(key), () => readTriggerOid(store.read, key)),
    async placed(key) {
      const read = async (): Promise<PlacedTrigger | null> => (await readPlacedTrigger(store.read, key)) ?? null
      return (await recall(placements, wholeText(key), read)) ?? undefined
    },
    forget({ kind, parts }) {
      generation += 1
      for (const { record } of parts) oids.delete(textOf({ positionId: record.id, kind }))
      if (parts[0] !== undefined) placements.delete(wholeText(wholeKeyOf(parts[0], kind)))
    },
  }
}

export function createTriggers(store: Pick<Store, 'read' | 'transaction'>): Triggers {
  const memory = createTriggerMemory(store)
  const settled = createLru<Hex, true>(MAX_KNOWN)

  /** Folds the triggers of one kind of one position again in a transaction, and stores the ids that it lacks. */
  async function assignMissing(kind: TriggerKind, parts: readonly LivePosition[]): Promise<readonly TriggerOrder[]> {
    const { chain, trader } = parts[0]!.record
    const listed = await store.transaction({ chain, trader }, async (sql) => {
      const folded = await foldStored(kind, parts, {
        oidOf: (key) => readTriggerOid(sql, key),
        placed: (key) => readPlacedTrigger(sql, key),
        sql,
      })
      const made: TriggerOrder[] = []
      for (const { price, parts: of, oid: known } of folded) {
        const oid = known ?? (await takeId(sql))
        for (const { record } of of) await saveTriggerOid(sql, { positionId: record.id, kind }, oid)
        made.push({ oid, kind, price, parts: of })
      }
      return made
    })
    memory.forget({ kind, parts })
    return listed
  }

  async function listOne(kind: TriggerKind, parts: readonly LivePosition[]): Promise<readonly TriggerOrder[]> {
    const folded = await foldStored(kind, parts, { ...memory, sql: store.read })
    const listed = folded.flatMap((of) => (of.oid === undefined || of.isMixed ? [] : [{ ...of, oid: of.oid, kind }]))
    return listed.length === folded.length ? listed : assignMissing(kind, parts)
  }

  return {
    ...memory,
    find: (oid) => findTrigger(store.read, oid),
    async assign(sql, { kind, price, parts, isWhole, oid: kept }) {
      const oid = kept ?? (await takeId(sql))
      for (const { record } of parts) await saveTriggerOid(sql, { positionId: record.id, kind }, oid)
      if (isWhole) await savePlacedTrigger(sql, wholeKeyOf(parts[0]!, kind), { oid, price })
      return oid
    },
    remove: (sql, key, oid) => savePlacedTrigger(sql, key, { oid, price: Price.zero }),
    sent: saveTriggerChange,
    lastSent: async (sql, key) => (await readTriggerChange(sql, key))?.hash,
    settled: (hash) => settled.set(hash, true),
    async onItsWay(key, relayer) {
      const change = await readTriggerChange(store.read, key)
      if (change === undefined || settled.get(change.hash) === true) return undefined
      return (await relayer.isOnItsWay(change.hash)) ? change : undefined
    },
    async list(positions) {
      const lists: (readonly TriggerOrder[])[] = []
      for (const side of sidesOf(positions)) {
        for (const kind of TRIGGER_KINDS) {
          const carrying = side.filter(({ state }) => state.trade[kind] > 0n)
          if (carrying.length > 0) lists.push(await listOne(kind, carrying))
        }
      }
      return lists.flat()
    },
  }
}

/** Splits one trader's positions by pair and side, each in its order. */
function sidesOf(positions: readonly LivePosition[]): readonly (readonly LivePosition[])[] {
  return [...Map.groupBy(positions, ({ state: { trade } }) => `${trade.pairIndex} ${trade.long}`).values()]
}

export function wholeKeyOf({ record, state }: LivePosition, kind: TriggerKind): WholeKey {
  const { pairIndex, long } = state.trade
  return { chain: record.chain, trader: record.trader, pairIndex, long, kind }
}

type Reads = Pick<Triggers, 'oidOf' | 'placed'> & { readonly sql: Sql }

async function foldStored(
  kind: TriggerKind,
  parts: readonly LivePosition[],
  reads: Reads,
): Promise<readonly FoldedTrigger<LivePosition>[]> {
  const carried = await Promise.all(
    parts.map(async (part) => ({
      part,
      price: part.state.trade[kind],
      oid: await reads.oidOf({ positionId: part.record.id, kind }),
    })),
  )
  const placed = await reads.placed(wholeKeyOf(parts[0]!, kind))
  const isOver = placed === undefined || placed.price === 0n
  if (isOver || carried.some(({ oid }) => oid === placed.oid)) return foldTriggers(carried, placed)
  const closedAtMs = await readLastClosedMs(reads.sql, placed.oid)
  return foldTriggers(carried, placed, ({ state }) => state.openedAtMs < closedAtMs)
}

/** Reads when the last of the closed trades of an order was closed; 0 when none is. */
async function readLastClosedMs(sql: Sql, oid: OrderId): Promise<number> {
  const { parts } = (await findTrigger(sql, oid)) ?? { parts: [] }
  const positions = await Promise.all(parts.map((id) => findPosition(sql, id)))
  return Math.max(0, ...positions.map((one) => (one?.state?.isOpen === false ? one.state.updatedAtMs : 0)))
}

/** The trigger of one trade, with the id of the order that it was last listed under. */
export interface CarriedTrigger<Part> {
  readonly part: Part
  readonly price: Price
  readonly oid: OrderId | undefined
}

interface FoldedTrigger<Part> {
  readonly price: Price
  readonly parts: readonly Part[]
  /** `undefined` when the order needs a new id. */
  readonly oid: OrderId | undefined
  /** True when a part was last listed under another id. */
  readonly isMixed: boolean
}

/**
 * Makes one order of all triggers of one kind at the same price, in the order of their oldest trades. The id that a
 * client placed goes to the price it asked for, else to the oldest trade that has it; where those that had it are
 * closed, to the oldest that was a part of the position with them (`isHeir`). Every other order has the oldest id of
 * its trades that no order before it has. Trades that come to one price are one order, trades that part are two.
 */
export function foldTriggers<Part>(
  carried: readonly CarriedTrigger<Part>[],
  placed: PlacedTrigger | undefined,
  isHeir: (part: Part) => boolean = () => false,
): readonly FoldedTrigger<Part>[] {
  const groups = [...Map.groupBy(carried, ({ price }) => price)]
  const isOwner = ({ oid, part }: CarriedTrigger<Part>): boolean => oid === placed?.oid || isHeir(part)
  const owners = groups.filter(([, of]) => placed !== undefined && of.some(isOwner))
  const owner = owners.find(([price]) => price === placed!.price) ?? owners[0]
  const taken = new Set<OrderId | undefined>(owner === undefined ? [undefined] : [undefined, placed!.oid])
  return groups.map(([price, of]) => {
    const isPlaced = owner !== undefined && owner[0] === price
    const ids = of.map(({ oid }) => oid).filter((oid) => !taken.has(oid))
    const oid = isPlaced ? placed!.oid : ids.toSorted((a, b) => Number(a) - Number(b))[0]
    taken.add(oid)
    return { price, parts: of.map(({ part }) => part), oid, isMixed: of.some((one) => one.oid !== oid) }
  })
}

/** Origin key of an order that executed a take profit or stop loss: the kind and the position id. */
const ORIGIN_PATTERN = /^(tp|sl):(\d+)$/

/** Returns the trigger that an order executed, or `undefined` for an order that somebody placed. */
export function triggerOfOrigin(originKey: string | null): TriggerKey | undefined {
  const [, kind, positionId] = ORIGIN_PATTERN.exec(originKey ?? '') ?? []
  if (kind === undefined || positionId === undefined) return undefined
  return { kind: kind as TriggerKind, positionId: positionId as OrderId }
}

export function originOfTrigger({ kind, positionId }: TriggerKey): string {
  return `${kind}:${positionId}`
}

function textOf({ positionId, kind }: TriggerKey): string {
  return `${positionId} ${kind}`
}

function wholeText({ chain, trader, pairIndex, long, kind }: WholeKey): string {
  return `${chain} ${trader} ${pairIndex} ${long} ${kind}`
}
