import type { Address, ChainSlug, Hex } from '@bezel/protocol'
import type { AttemptId } from '../trading/orders/orderModel.ts'
import type { HeldHandle } from './orderEventStore.ts'
import { forgetRelayedGas, type RelaySender } from './relayGasStore.ts'
import type { Sql } from './sql.ts'

/** Fees offered per unit of gas, in wei. */
export interface Fees {
  readonly maxFeeWei: bigint
  readonly maxPriorityFeeWei: bigint
}

/** Kind of a version. `action` is the trader's request; `burn` is an empty transfer that uses up the nonce instead. */
export type VersionKind = 'action' | 'burn'

/** One signed transaction of an entry. All versions of an entry have the same nonce, so at most one is ever mined. */
export interface RelayVersion {
  /** Number of the version within its entry: 0, 1, 2, ... */
  readonly number: number
  readonly kind: VersionKind
  readonly hash: Hex
  readonly raw: Hex
  readonly fees: Fees
  readonly createdAtMs: number
}

export interface RelayAction {
  readonly attemptId: AttemptId
  readonly trader: Address
  /** The agent that asked for it; `null` in entries from before it was kept. */
  readonly agent: Address | null
  /** True when it is paid wholly from what is set aside for ways out. */
  readonly isExit: boolean
  readonly calldata: Hex
  /** Gas limit in units of gas. */
  readonly gas: bigint
  /** The orders and positions that it names by their numbers on the chain; empty in entries from before. */
  readonly aims: readonly HeldHandle[]
}

/** A nonce of the relayer and its use. */
export interface RelayEntry {
  readonly nonce: number
  /** The trader's action; `null` for an entry that only fills a nonce gap left by another program, and is burnt. */
  readonly action: RelayAction | null
  /** Time until which the action is sent, in epoch ms; afterwards the nonce is burnt. */
  readonly expiresAtMs: number
  /** UTC day to which the gas counts, in days since the epoch. */
  readonly day: number
  /** Gas cost counted now, in wei: the maximum possible or, once mined, the actual one. */
  readonly countedWei: bigint
  /** Versions, oldest first; at least one. */
  readonly versions: readonly RelayVersion[]
}

/**
 * State of an entry. `done`: one of its versions counts as mined for good. `lost`: another transaction used its nonce
 * for good.
 */
type RelayEntryState = 'live' | 'done' | 'lost'

interface EntryRow {
  readonly nonce: bigint
  readonly attempt_id: string | null
  readonly trader: string | null
  readonly agent: string | null
  readonly is_exit: bigint
  readonly calldata: string | null
  readonly gas: bigint
  readonly expires_at: bigint
  readonly day: bigint
  readonly counted_wei: string
  readonly aims: string | null
}

const ENTRY_COLUMNS = 'nonce, attempt_id, trader, agent, is_exit, calldata, gas, expires_at, day, counted_wei, aims'

interface VersionRow {
  readonly nonce: bigint
  readonly version: bigint
  readonly kind: string
  readonly hash: string
  readonly raw: string
  readonly max_fee_wei: string
  readonly max_priority_fee_wei: string
  readonly created_at: bigint
}

/** Reads the first nonce that the table records and the next one to give out; `undefined` before the first use. */
export async function readRelayNonces(
  sql: Sql,
  { chain, sender }: RelaySender,
): Promise<{ readonly first: number; readonly next: number } | undefined> {
  const row = await sql.get<{ first_nonce: bigint; next_nonce: bigint }>(
    'select first_nonce, next_nonce from relay_senders where chain = $1 and sender = $2',
    chain,
    sender,
  )
  return row === undefined ? undefined : { first: Number(row.first_nonce), next: Number(row.next_nonce) }
}

/** Records `first` as the table's first nonce at the first use, and raises the next nonce to at least `next`. */
export async function skipRelayNonces(
  sql: Sql,
  { chain, sender }: RelaySender,
  of: { readonly first: number; readonly next: number },
): Promise<void> {
  await sql.run(
    `insert into relay_senders (chain, sender, first_nonce, next_nonce) values ($1, $2, $3, $4)
     on conflict (chain, sender) do update set next_nonce = case when relay_senders.next_nonce < $4 then $4 else relay_senders.next_nonce end`,
    chain,
    sender,
    of.first,
    of.next,
  )
}

/** Takes the next nonce, used up when the transaction commits; `undefined` before the first use. */
export async function takeRelayNonce(sql: Sql, { chain, sender }: RelaySender): Promise<number | undefined> {
  const row = await sql.get<{ nonce: bigint }>(
    'update relay_senders set next_nonce = next_nonce + 1 where chain = $1 and sender = $2 returning next_nonce - 1 as nonce',
    chain,
    sender,
  )
  return row === undefined ? undefined : Number(row.nonce)
}

/** Inserts an entry with its versions. Returns false when the nonce already has an entry, which stays. */
export async function insertRelayEntry(sql: Sql, of: RelaySender, entry: RelayEntry): Promise<boolean> {
  const { action } = entry
  const changed = await sql.run(
    `insert into relay_entries (chain, sender, nonce, state, attempt_id, trader, agent, is_exit, calldata, gas, expires_at, day, counted_wei, aims)
     values ($1, $2, $3, 'live', $4, $5, $6, $7, $8, $9, $10, $11, $12, $13) on conflict (chain, sender, nonce) do nothing`,
    of.chain,
    of.sender,
    entry.nonce,
    action?.attemptId ?? null,
    action?.trader ?? null,
    action?.agent ?? null,
    action?.isExit === true ? 1n : 0n,
    action?.calldata ?? null,
    action?.gas ?? 0n,
    entry.expiresAtMs,
    entry.day,
    String(entry.countedWei),
    action === null || action.aims.length === 0 ? null : JSON.stringify(action.aims),
  )
  if (changed === 0) return false
  for (const version of entry.versions) await insertRelayVersion(sql, of, entry.nonce, version)
  return true
}

/** Adds a version. Throws when the nonce already has a version of this number. */
export async function insertRelayVersion(
  sql: Sql,
  { chain, sender }: RelaySender,
  nonce: number,
  { number, kind, hash, raw, fees, createdAtMs }: RelayVersion,
): Promise<void> {
  await sql.run(
    `insert into relay_versions (chain, sender, nonce, version, kind, hash, raw, max_fee_wei, max_priority_fee_wei, created_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
    chain,
    sender,
    nonce,
    number,
    kind,
    hash,
    raw,
    String(fees.maxFeeWei),
    String(fees.maxPriorityFeeWei),
    createdAtMs,
  )
}

/** Reads the hash with which an attempt was last sent; `undefined` when it was not sent or its nonce was lost. */
export async function readRelayedHash(sql: Sql, chain: ChainSlug, attemptId: AttemptId): Promise<Hex | undefined> {
  const row = await sql.get<{ hash: string }>(
    `select hash from relay_versions as version join relay_entries as entry
       on entry.chain = version.chain and entry.sender = version.sender and entry.nonce = version.nonce
     where entry.chain = $1 and entry.attempt_id = $2 and entry.state <> 'lost' and version.kind = 'action'
     order by version.version desc limit 1`,
    chain,
    attemptId,
  )
  return row?.hash as Hex | undefined
}

/** Returns true when a relayer of this deployment signed a transaction with this hash. */
export async function isRelayedHash(sql: Sql, chain: ChainSlug, hash: Hex): Promise<boolean> {
  return (await sql.get('select 1 from relay_versions where chain = $1 and hash = $2', chain, hash)) !== undefined
}

/**
 * Returns true while the attempt that a transaction is a version of has a live entry of this sender. After its nonce
 * was lost it has one with another nonce. Entries of another key, whom nobody sends for, never end.
 */
export async function isRelayedLive(sql: Sql, { chain, sender }: RelaySender, hash: Hex): Promise<boolean> {
  const row = await sql.get(
    `select 1 from relay_versions as version join relay_entries as entry
       on entry.chain = version.chain and entry.sender = version.sender and entry.nonce = version.nonce
     join relay_entries as live on live.chain = entry.chain and live.attempt_id = entry.attempt_id
     where version.chain = $1 and version.hash = $2 and live.sender = $3
       and live.state <> 'lost' and live.state <> 'done'`,
    chain,
    hash,
    sender,
  )
  return row !== undefined
}

/** Lists up to `limit` live entries from nonce `from` on, in nonce order. */
export async function listRelayEntries(
  sql: Sql,
  { chain, sender }: RelaySender,
  of: { readonly from: number; readonly limit: number },
): Promise<RelayEntry[]> {
  const rows = await sql.all<EntryRow>(
    `select ${ENTRY_COLUMNS} from relay_entries
     where chain = $1 and sender = $2 and nonce >= $3 and state = 'live' order by nonce limit $4`,
    chain,
    sender,
    of.from,
    of.limit,
  )
  return withVersions(sql, { chain, sender }, rows)
}

/** Lists the live entries of an agent, in nonce order. */
export async function listRelayEntriesOf(
  sql: Sql,
  { chain, sender }: RelaySender,
  agent: Address,
): Promise<RelayEntry[]> {
  const rows = await sql.all<EntryRow>(
    `select ${ENTRY_COLUMNS} from relay_entries
     where chain = $1 and sender = $2 and agent = $3 and state = 'live' order by nonce`,
    chain,
    sender,
    agent,
  )
  return withVersions(sql, { chain, sender }, rows)
}

/** Lists the agents that have live entries of a trader, or of anybody when `trader` is `null`. */
export async function listRelayedAgents(
  sql: Sql,
  { chain, sender }: RelaySender,
  trader: Address | null,
): Promise<Address[]> {
  const ofTrader = trader === null ? '' : ' and trader = $3'
  const rows = await sql.all<{ agent: string }>(
    `select distinct agent from relay_entries
     where chain = $1 and sender = $2 and agent is not null and state = 'live'${ofTrader}`,
    chain,
    sender,
    ...(trader === null ? [] : [trader]),
  )
  return rows.map(({ agent }) => agent as Address)
}

async function withVersions(sql: Sql, of: RelaySender, rows: readonly EntryRow[]): Promise<RelayEntry[]> {
  const entries: RelayEntry[] = []
  for (const row of rows) entries.push(toEntry(row, await listVersions(sql, of, row.nonce)))
  return entries
}

async function listVersions(sql: Sql, { chain, sender }: RelaySender, nonce: bigint): Promise<RelayVersion[]> {
  const rows = await sql.all<VersionRow>(
    `select nonce, version, kind, hash, raw, max_fee_wei, max_priority_fee_wei, created_at from relay_versions
     where chain = $1 and sender = $2 and nonce = $3 order by version`,
    chain,
    sender,
    nonce,
  )
  return rows.map(toVersion)
}

/** Counts the entries that are not mined, of all traders and of one trader without its exits. */
export async function countUnmined(
  sql: Sql,
  { chain, sender }: RelaySender,
  of: { readonly usedNonces: number; readonly trader: Address },
): Promise<{ readonly all: number; readonly own: number }> {
  const row = await sql.get<{ all_count: bigint; own_count: bigint }>(
    `select count(*) as all_count, count(case when trader = $4 and is_exit = 0 then 1 end) as own_count
     from relay_entries where chain = $1 and sender = $2 and nonce >= $3 and state = 'live'`,
    chain,
    sender,
    of.usedNonces,
    of.trader,
  )
  return { all: Number(row!.all_count), own: Number(row!.own_count) }
}

/** Counts the live entries of other accounts, whose keys are not available here. */
export async function countOtherSenders(sql: Sql, { chain, sender }: RelaySender): Promise<number> {
  const row = await sql.get<{ count: bigint }>(
    `select count(*) as count from relay_entries where chain = $1 and sender <> $2 and state = 'live'`,
    chain,
    sender,
  )
  return Number(row!.count)
}

/** Ends an entry, or makes an ended one live again. Returns false when it was not in the state `from`. */
export async function moveRelayEntry(
  sql: Sql,
  { chain, sender }: RelaySender,
  of: {
    readonly nonce: number
    readonly from: RelayEntryState
    readonly to: RelayEntryState
    readonly atMs: number | null
  },
): Promise<boolean> {
  const where = 'where chain = $1 and sender = $2 and nonce = $3 and state = $6'
  const text = `update relay_entries set state = $4, ended_at = $5 ${where}`
  return (await sql.run(text, chain, sender, of.nonce, of.to, of.atMs, of.from)) === 1
}

/**
 * Sets the gas cost that an entry counts. Runs in the transaction that changes the day's sums. Returns the previous
 * amount.
 */
export async function setCountedWei(
  sql: Sql,
  { chain, sender }: RelaySender,
  nonce: number,
  wei: bigint,
): Promise<bigint> {
  const where = 'chain = $1 and sender = $2 and nonce = $3'
  const row = await sql.get<{ counted_wei: string }>(
    `select counted_wei from relay_entries where ${where}`,
    chain,
    sender,
    nonce,
  )
  await sql.run(`update relay_entries set counted_wei = $4 where ${where}`, chain, sender, nonce, String(wei))
  return BigInt(row?.counted_wei ?? 0)
}

/**
 * Deletes up to `limit` entries that ended before `beforeMs`, what was set aside until then, and the sums of days
 * before `beforeDay`. Returns the number of entries.
 */
export async function forgetRelayed(
  sql: Sql,
  chain: ChainSlug,
  of: { readonly beforeMs: number; readonly beforeDay: number; readonly limit: number },
): Promise<number> {
  const rows = await sql.all<{ sender: string; nonce: bigint }>(
    'select sender, nonce from relay_entries where ended_at < $2 and chain = $1 order by ended_at limit $3',
    chain,
    of.beforeMs,
    of.limit,
  )
  for (const { sender, nonce } of rows) {
    await sql.run('delete from relay_versions where chain = $1 and sender = $2 and nonce = $3', chain, sender, nonce)
    await sql.run('delete from relay_exit_uses where chain = $1 and sender = $2 and nonce = $3', chain, sender, nonce)
    await sql.run('delete from relay_entries where chain = $1 and sender = $2 and nonce = $3', chain, sender, nonce)
  }
  await forgetRelayedGas(sql, chain, of)
  return rows.length
}

function toEntry(row: EntryRow, versions: readonly RelayVersion[]): RelayEntry {
  return {
    nonce: Number(row.nonce),
    action:
      row.attempt_id === null
        ? null
        : {
            attemptId: row.attempt_id as AttemptId,
            trader: row.trader as Address,
            agent: row.agent as Address | null,
            isExit: row.is_exit === 1n,
            calldata: row.calldata as Hex,
            gas: row.gas,
            aims: row.aims === null ? [] : (JSON.parse(row.aims) as HeldHandle[]),
          },
    expiresAtMs: Number(row.expires_at),
    day: Number(row.day),
    countedWei: BigInt(row.counted_wei),
    versions,
  }
}

function toVersion(row: VersionRow): RelayVersion {
  return {
    number: Number(row.version),
    kind: row.kind as VersionKind,
    hash: row.hash as Hex,
    raw: row.raw as Hex,
    fees: { maxFeeWei: BigInt(row.max_fee_wei), maxPriorityFeeWei: BigInt(row.max_priority_fee_wei) },
    createdAtMs: Number(row.created_at),
  }
}
