import type { Hex } from 'viem'
import type { ListRows } from '../campaign/storedOrders.ts'

/** A nonce of the relayer, by its rows in the store. */
export interface OutboxEntry {
  readonly nonce: number
  readonly state: string
  readonly attemptId: string | null
  readonly trader: string | null
  readonly calldata: Hex | null
  readonly expiresAtMs: number
  readonly day: number
  readonly countedWei: bigint
  readonly versions: readonly { readonly kind: string; readonly hash: string; readonly createdAtMs: number }[]
}

export interface OutboxAttempt {
  readonly id: string
  readonly orderId: string
  readonly kind: string
  readonly sender: string
  /** Size that a change gives its order; `null` when it leaves the size alone. */
  readonly size: string | null
}

/** The relayer's part of the service's database, read without the service's code. */
export interface Outbox {
  readonly entries: readonly OutboxEntry[]
  readonly nextNonce: number
  readonly attempts: readonly OutboxAttempt[]
  /** Order ids by client order id. */
  readonly orderOfCloid: ReadonlyMap<string, string>
  /** Status and requested size by order; the status is `null` after a reorganisation removed the order. */
  readonly orders: ReadonlyMap<
    string,
    { readonly trader: string; readonly status: string | null; readonly size: string }
  >
  readonly triggers: ReadonlySet<string>
  /** Gas in wei by `<day> <trader>`; the trader of the whole deployment is ''. */
  readonly gas: ReadonlyMap<string, bigint>
  /** Gas in wei that is set aside, or that a trader counts twice. */
  readonly exits: readonly {
    readonly day: number
    readonly trader: string
    readonly asideWei: bigint
    readonly surchargeWei: bigint
  }[]
  readonly openTrades: readonly OpenTrade[]
}

/** An open position of the store. */
export interface OpenTrade {
  readonly trader: string
  readonly index: number
  readonly tp: string
  readonly sl: string
}

type Row = Record<string, unknown>

export async function readOutbox(all: ListRows): Promise<Outbox> {
  const versions = Map.groupBy(await all('select * from relay_versions order by nonce, version'), ({ nonce }) =>
    Number(nonce),
  )
  return {
    entries: (await all('select * from relay_entries order by nonce')).map((row) => toEntry(row, versions)),
    nextNonce: Number((await all('select next_nonce from relay_senders'))[0]?.next_nonce ?? 0),
    attempts: (await all('select id, order_id, kind, sender, size from attempts')).map((row) => ({
      id: String(row.id),
      orderId: String(row.order_id),
      kind: String(row.kind),
      sender: String(row.sender),
      size: row.size === null ? null : String(row.size),
    })),
    orderOfCloid: new Map(
      (await all('select cloid, oid, trader from facade_cloids')).map((row) => [
        `${row.trader} ${row.cloid}`,
        String(row.oid),
      ]),
    ),
    orders: new Map((await all('select id, trader, status, request from orders')).map(toOrder)),
    triggers: new Set(
      (await all('select oid from facade_triggers union select oid from facade_former_triggers')).map(({ oid }) =>
        String(oid),
      ),
    ),
    gas: new Map(
      (await all('select * from relay_gas')).map((row) => [`${row.day} ${row.trader}`, BigInt(String(row.wei))]),
    ),
    exits: (await all('select * from relay_exits')).map((row) => ({
      day: Number(row.day),
      trader: String(row.trader),
      asideWei: row.over_at === null ? sumOf(row.close_wei, row.stops_wei, row.cancel_wei) : 0n,
      surchargeWei: sumOf(row.surcharge_wei),
    })),
    openTrades: (await all('select trader, trade_index, state from positions where is_open = 1')).map(toOpenTrade),
  }
}

function toEntry(row: Row, versions: ReadonlyMap<number, readonly Row[]>): OutboxEntry {
  const text = (value: unknown): string | null => (value === null ? null : String(value))
  const nonce = Number(row.nonce)
  return {
    nonce,
    state: String(row.state),
    attemptId: text(row.attempt_id),
    trader: text(row.trader),
    calldata: text(row.calldata) as Hex | null,
    expiresAtMs: Number(row.expires_at),
    day: Number(row.day),
    countedWei: BigInt(String(row.counted_wei)),
    versions: (versions.get(nonce) ?? []).map(({ kind, hash, created_at: createdAt }) => ({
      kind: String(kind),
      hash: String(hash),
      createdAtMs: Number(createdAt),
    })),
  }
}

function sumOf(...amounts: readonly unknown[]): bigint {
  return amounts.reduce((sum: bigint, amount) => sum + BigInt(String(amount)), 0n)
}

function toOrder(row: Row): [string, { trader: string; status: string | null; size: string }] {
  const { size } = JSON.parse(String(row.request)) as { size: string }
  const status = row.status === null ? null : String(row.status)
  return [String(row.id), { trader: String(row.trader), status, size }]
}

function toOpenTrade(row: Row): OpenTrade {
  const { trade } = JSON.parse(String(row.state)) as { trade: { tp: unknown; sl: unknown } }
  return { trader: String(row.trader), index: Number(row.trade_index), tp: digits(trade.tp), sl: digits(trade.sl) }
}

/** Extracts the digits. The store writes large numbers as text with a suffix. */
function digits(value: unknown): string {
  return /\d+/.exec(JSON.stringify(value))?.[0] ?? ''
}
