import type { Address, ChainSlug, OrderId } from '@bezel/protocol'
import { holding, type Sql } from './sql.ts'

/** The account whose nonces are kept, on one chain. */
export interface RelaySender {
  readonly chain: ChainSlug
  readonly sender: Address
}

/** The parts of a way out, each with gas of its own: one close, one change of the stops, one cancel or reclaim. */
export const EXIT_PARTS = ['close', 'stops', 'cancel'] as const
export type ExitPart = (typeof EXIT_PARTS)[number]

/** The gas that is set aside for the way out of what one order opens. */
export interface RelayExit {
  readonly chain: ChainSlug
  readonly orderId: OrderId
  readonly trader: Address
  /** UTC day whose budget it was taken from, in days since the epoch. */
  readonly day: number
  /** Amounts left, in wei. */
  readonly left: Readonly<Record<ExitPart, bigint>>
  /** Amount that its trader counts once more, because the order was cancelled without a fill. */
  readonly surchargeWei: bigint
  /** Time at which order and position had ended, epoch ms; `null` while the amounts are held. */
  readonly overAtMs: number | null
}

/** The amount that an entry counts and that was set aside. */
export interface ExitUse {
  readonly orderId: OrderId
  readonly part: ExitPart
  readonly day: number
  readonly wei: bigint
}

interface ExitRow {
  readonly chain: string
  readonly order_id: bigint
  readonly trader: string
  readonly day: bigint
  readonly close_wei: string
  readonly stops_wei: string
  readonly cancel_wei: string
  readonly surcharge_wei: string
  readonly over_at: bigint | null
}

const EXIT_COLUMNS = 'chain, order_id, trader, day, close_wei, stops_wei, cancel_wei, surcharge_wei, over_at'

/**
 * Reads the gas cost counted on a day, in wei: of one trader, or of the whole deployment when `trader` is `null`. What
 * is set aside from that day's budget is part of it.
 */
export async function readRelayedGasWei(
  sql: Sql,
  chain: ChainSlug,
  day: number,
  trader: Address | null,
): Promise<bigint> {
  const row = await sql.get<{ wei: string }>(
    'select wei from relay_gas where chain = $1 and day = $2 and trader = $3',
    chain,
    day,
    trader ?? '',
  )
  return BigInt(row?.wei ?? 0)
}

/** Adds to the gas cost of a day; a negative amount gives back. */
export async function addRelayedGas(
  sql: Sql,
  of: { readonly chain: ChainSlug; readonly day: number; readonly trader: Address | null; readonly wei: bigint },
): Promise<void> {
  const total = (await readRelayedGasWei(sql, of.chain, of.day, of.trader)) + of.wei
  await sql.run(
    `insert into relay_gas (chain, day, trader, wei) values ($1, $2, $3, $4)
     on conflict (chain, day, trader) do update set wei = $4`,
    of.chain,
    of.day,
    of.trader ?? '',
    String(total),
  )
}

/**
 * Holds the relayer's queue of a chain until the end of the transaction, as whoever takes a nonce does: the sums of gas
 * are those of all traders, and a request is alone with its own alone.
 */
export async function holdRelayQueue(sql: Sql, chain: ChainSlug): Promise<void> {
  await sql.all(`select sender from relay_senders where chain = $1${holding(sql)}`, chain)
}

/** Reads the sum of everything that is set aside on a chain, in wei. */
export async function readAsideWei(sql: Sql, chain: ChainSlug): Promise<bigint> {
  const row = await sql.get<{ wei: string }>('select wei from relay_aside where chain = $1', chain)
  return BigInt(row?.wei ?? 0)
}

/** Adds to the sum of what is set aside; a negative amount takes from it. */
export async function addAside(sql: Sql, chain: ChainSlug, wei: bigint): Promise<void> {
  await sql.run(
    'insert into relay_aside (chain, wei) values ($1, $2) on conflict (chain) do update set wei = $2',
    chain,
    String((await readAsideWei(sql, chain)) + wei),
  )
}

export async function findExit(sql: Sql, chain: ChainSlug, orderId: OrderId): Promise<RelayExit | undefined> {
  const row = await sql.get<ExitRow>(
    `select ${EXIT_COLUMNS} from relay_exits where chain = $1 and order_id = $2`,
    chain,
    BigInt(orderId),
  )
  return row === undefined ? undefined : toExit(row)
}

/** Inserts what is set aside for an order, or replaces it. */
export async function saveExit(sql: Sql, exit: RelayExit): Promise<void> {
  await sql.run(
    `insert into relay_exits (${EXIT_COLUMNS}) values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
     on conflict (chain, order_id) do update set trader = $3, day = $4, close_wei = $5, stops_wei = $6,
       cancel_wei = $7, surcharge_wei = $8, over_at = $9`,
    exit.chain,
    BigInt(exit.orderId),
    exit.trader,
    exit.day,
    String(exit.left.close),
    String(exit.left.stops),
    String(exit.left.cancel),
    String(exit.surchargeWei),
    exit.overAtMs,
  )
}

/** The statuses in which an order may still need a way out. */
const LIVE = `('prepared', 'pending', 'open', 'timed_out')`

/** A position that may still need a way out: open, or with a change that locks collateral. */
const NEEDY = '(is_open = 1 or update_due_block is not null)'

/**
 * Reads whether an order, or the position that it opened, may still need a way out, and whether it ended by a cancel
 * that was asked for.
 */
export async function readExitNeed(
  sql: Sql,
  orderId: OrderId,
): Promise<{ readonly isNeeded: boolean; readonly isCanceled: boolean }> {
  const row = await sql.get<{ is_needed: bigint; is_canceled: bigint }>(
    `select case when status in ${LIVE} or exists (
         select 1 from positions where origin_order_id = orders.id and ${NEEDY}
       ) then 1 else 0 end as is_needed,
       case when status = 'canceled' and (exists (
         select 1 from attempts where attempts.order_id = orders.id and attempts.kind = 'cancel'
       ) or exists (
         select 1 from attempt_orders where attempt_orders.order_id = orders.id and attempt_orders.kind = 'cancel'
       )) then 1 else 0 end as is_canceled
     from orders where id = $1`,
    BigInt(orderId),
  )
  return { isNeeded: row?.is_needed === 1n, isCanceled: row?.is_canceled === 1n }
}

/**
 * Lists the orders that this sender brought to the chain, that may need a way out, and for which nothing was ever set
 * aside, with the gas limit of their transactions.
 */
export async function listWithoutExit(
  sql: Sql,
  { chain, sender }: RelaySender,
): Promise<{ readonly orderId: OrderId; readonly gas: bigint | null }[]> {
  const rows = await sql.all<{ order_id: bigint; gas: bigint | null }>(
    `select order_id, max(cast(gas as bigint)) as gas from attempts where kind = 'open' and sender = $2 and order_id in (
       select id from orders where chain = $1 and status in ${LIVE}
       union select origin_order_id from positions where chain = $1 and ${NEEDY}
     ) and not exists (select 1 from relay_exits where chain = $1 and relay_exits.order_id = attempts.order_id)
     group by order_id order by order_id`,
    chain,
    sender,
  )
  return rows.map(({ order_id, gas }) => ({ orderId: String(order_id) as OrderId, gas }))
}

/** Reads what is held for all ways out of a trader, whenever it was set aside, in wei. */
export async function readHeldWei(sql: Sql, chain: ChainSlug, trader: Address): Promise<bigint> {
  const rows = await sql.all<Pick<ExitRow, 'close_wei' | 'stops_wei' | 'cancel_wei'>>(
    'select close_wei, stops_wei, cancel_wei from relay_exits where chain = $1 and trader = $2 and over_at is null',
    chain,
    trader,
  )
  return rows.reduce((sum, of) => sum + BigInt(of.close_wei) + BigInt(of.stops_wei) + BigInt(of.cancel_wei), 0n)
}

/** Lists what the entry of a nonce counts that was set aside. */
export async function listExitUses(sql: Sql, { chain, sender }: RelaySender, nonce: number): Promise<ExitUse[]> {
  const rows = await sql.all<{ order_id: bigint; part: string; day: bigint; wei: string }>(
    `select order_id, part, day, wei from relay_exit_uses where chain = $1 and sender = $2 and nonce = $3
     order by order_id, part`,
    chain,
    sender,
    nonce,
  )
  return rows.map(({ order_id, part, day, wei }) => ({
    orderId: String(order_id) as OrderId,
    part: part as ExitPart,
    day: Number(day),
    wei: BigInt(wei),
  }))
}

export async function saveExitUse(
  sql: Sql,
  { chain, sender }: RelaySender,
  nonce: number,
  { orderId, part, day, wei }: ExitUse,
): Promise<void> {
  await sql.run(
    `insert into relay_exit_uses (chain, sender, nonce, order_id, part, day, wei) values ($1, $2, $3, $4, $5, $6, $7)
     on conflict (chain, sender, nonce, order_id, part) do update set wei = $7`,
    chain,
    sender,
    nonce,
    BigInt(orderId),
    part,
    day,
    String(wei),
  )
}

/** Moves what an entry counts to the entry of another nonce, which replaces it. */
export async function moveExitUses(
  sql: Sql,
  { chain, sender }: RelaySender,
  of: { readonly from: number; readonly to: number },
): Promise<void> {
  await sql.run(
    'update relay_exit_uses set nonce = $4 where chain = $1 and sender = $2 and nonce = $3',
    chain,
    sender,
    of.from,
    of.to,
  )
}

/** True while an entry that is not mined uses this part: a part pays for one transaction at a time. */
export async function isPartInUse(
  sql: Sql,
  { chain, sender }: RelaySender,
  of: { readonly orderId: OrderId; readonly part: ExitPart; readonly usedNonces: number },
): Promise<boolean> {
  const row = await sql.get(
    `select 1 from relay_exit_uses as used join relay_entries as entry
       on entry.chain = used.chain and entry.sender = used.sender and entry.nonce = used.nonce
     where used.chain = $1 and used.order_id = $2 and used.part = $3 and used.sender = $4 and used.nonce >= $5
       and entry.state = 'live' limit 1`,
    chain,
    BigInt(of.orderId),
    of.part,
    sender,
    of.usedNonces,
  )
  return row !== undefined
}

/** Reads the gas cost that the entries count with which an order was brought to the chain, in wei. */
export async function readOpeningWei(sql: Sql, chain: ChainSlug, orderId: OrderId): Promise<bigint> {
  const rows = await sql.all<{ counted_wei: string }>(
    `select counted_wei from relay_entries as entry join attempts on attempts.id = entry.attempt_id
     where entry.chain = $1 and attempts.order_id = $2 and attempts.kind = 'open' and entry.state <> 'lost'`,
    chain,
    BigInt(orderId),
  )
  return rows.reduce((sum, { counted_wei }) => sum + BigInt(counted_wei), 0n)
}

/** Reads the gas cost that was paid with what is set aside for an order, in wei. */
export async function readExitUsedWei(sql: Sql, chain: ChainSlug, orderId: OrderId): Promise<bigint> {
  const rows = await sql.all<{ wei: string }>(
    'select wei from relay_exit_uses where chain = $1 and order_id = $2',
    chain,
    BigInt(orderId),
  )
  return rows.reduce((sum, { wei }) => sum + BigInt(wei), 0n)
}

/** Notes that an action of a trader was accepted. */
export async function noteActiveTrader(
  sql: Sql,
  of: { readonly chain: ChainSlug; readonly trader: Address; readonly atMs: number },
): Promise<void> {
  await sql.run(
    `insert into relay_traders (chain, trader, active_at) values ($1, $2, $3)
     on conflict (chain, trader) do update set active_at = $3`,
    of.chain,
    of.trader,
    of.atMs,
  )
}

/** Counts the traders who were active since a time, without `except`. */
export async function countActiveTraders(
  sql: Sql,
  of: { readonly chain: ChainSlug; readonly sinceMs: number; readonly except: Address },
): Promise<number> {
  const row = await sql.get<{ count: bigint }>(
    'select count(*) as count from relay_traders where chain = $1 and active_at > $2 and trader <> $3',
    of.chain,
    of.sinceMs,
    of.except,
  )
  return Number(row!.count)
}

/** Deletes the sums of days before `beforeDay`, and what was over, and who was active, before `beforeMs`. */
export async function forgetRelayedGas(
  sql: Sql,
  chain: ChainSlug,
  of: { readonly beforeMs: number; readonly beforeDay: number },
): Promise<void> {
  await sql.run('delete from relay_gas where chain = $1 and day < $2', chain, of.beforeDay)
  await sql.run('delete from relay_exits where chain = $1 and over_at < $2', chain, of.beforeMs)
  await sql.run('delete from relay_traders where chain = $1 and active_at < $2', chain, of.beforeMs)
}

function toExit(row: ExitRow): RelayExit {
  return {
    chain: row.chain as ChainSlug,
    orderId: String(row.order_id) as OrderId,
    trader: row.trader as Address,
    day: Number(row.day),
    left: { close: BigInt(row.close_wei), stops: BigInt(row.stops_wei), cancel: BigInt(row.cancel_wei) },
    surchargeWei: BigInt(row.surcharge_wei),
    overAtMs: row.over_at === null ? null : Number(row.over_at),
  }
}
