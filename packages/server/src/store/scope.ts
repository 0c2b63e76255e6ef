import type { Address, ChainSlug } from '@bezel/protocol'

/**
 * The part of the data that a transaction is alone with. Every transaction names its scope, so that an engine with
 * several writers knows which of them have to wait for each other. SQLite has one writer and needs none of it.
 *
 * - A request is alone with its trader on one chain. It may change what belongs to that trader there: orders,
 *   positions, spend, log, notices, and the record of an agent that goes on serving this trader.
 * - A block is alone on its chain, and so is everything else that changes data of several traders, decides which trader
 *   an agent serves, or works through the relayer's queue. No request on that chain runs meanwhile.
 * - The rest has a name, and is alone among those of the same name.
 *
 * Locks are taken in one order, so that no two transactions wait for each other: the chain, the trader, the row of the
 * lease, the row of the relayer's nonces, the number of the commit. A request that uses the relayer takes its nonce
 * before it reads a sum that all traders share, such as the day's gas, and one that only changes such a sum holds the
 * same row.
 */
export type Scope = TraderScope | ChainScope | NamedScope

export interface TraderScope {
  readonly chain: ChainSlug
  readonly trader: Address
}

export interface ChainScope {
  readonly chain: ChainSlug
  readonly trader?: never
}

export interface NamedScope {
  readonly name: ScopeName
}

/**
 * The names of what belongs to no chain: the schema and what a start brings up to date, envelopes that are used up by
 * themselves, messages to users, candles, the controls of the operator, the signs of life of the nodes, the deletion
 * of what is old, and each lease.
 */
export type ScopeName =
  'schema' | 'nonces' | 'notices' | 'candles' | 'controls' | 'nodes' | 'cleanup' | `lease ${string}`
