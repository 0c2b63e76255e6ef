import { NodeUnavailableError } from '../ground/unavailable.ts'
import { parseAddress, parseHex, type Address, type Hex } from '@bezel/protocol'
import type { FollowedBlock } from '../store/blockStore.ts'
import type { RawLog, DiamondEvent } from './events.ts'
import type { MarketEvent } from './marketEvents.ts'
import { numberToHex } from 'viem'
import type { RpcCall, RpcOutcome } from './rpcClient.ts'

/** A decoded event with the position of its log in the block. */
export type PlacedEvent = DiamondEvent & { readonly logIndex: number }

/** A transaction that concerns the Diamond: it was sent to the Diamond, or caused it to emit a log. */
export interface ChainTransaction {
  readonly hash: Hex
  /** Index of the transaction in its block. */
  readonly index: number
  readonly from: Address
  /** Recipient; `null` when the transaction creates a contract. */
  readonly to: Address | null
  readonly input: Hex
  /** Events of the Diamond in log order, without the kinds that are not decoded (see `USED_EVENTS`). */
  readonly events: readonly PlacedEvent[]
  /** Events about the state of markets, in log order. */
  readonly marketEvents: readonly MarketEvent[]
  /** True when the Diamond emitted any log in this transaction, also one of a kind that is not decoded. */
  readonly hasLogs: boolean
  /** First topics of all logs of the Diamond in log order, also of kinds that are not decoded. */
  readonly topics: readonly Hex[]
  /** Names of the events whose logs are not as the ABI says; they are missing in `events` and `marketEvents`. */
  readonly undecoded: readonly string[]
}

/** A block with everything in it that concerns the Diamond. */
export interface ChainBlock {
  readonly block: FollowedBlock
  /** Transactions in block order. */
  readonly transactions: readonly ChainTransaction[]
  /** Senders of all transactions of the block; empty when it was applied without them, because it has no logs. */
  readonly senders: ReadonlySet<Address>
  /** Bloom filter of all logs of the block, those of other contracts too. Left out: unknown. */
  readonly logsBloom?: Hex
}

/** Outcome of a mined transaction whose hash an agent reported. */
export interface Receipt {
  readonly txHash: Hex
  readonly blockHash: Hex
  readonly blockNumber: number
  /** Index of the transaction in its block. */
  readonly index: number
  readonly isReverted: boolean
}

export const headNumberCall: RpcCall = { method: 'eth_blockNumber', params: [] }

export function blockCall(number: number, withTransactions: boolean): RpcCall {
  return { method: 'eth_getBlockByNumber', params: [numberToHex(number), withTransactions] }
}

/** Asks for the header of the node's newest block. */
export const newestHeaderCall: RpcCall = { method: 'eth_getBlockByNumber', params: ['latest', false] }

/** Asks for the logs of a range of blocks; `latest` is the node's newest one. */
export function logsCall(diamond: Address, fromBlock: number, toBlock: number | 'latest'): RpcCall {
  const range = {
    fromBlock: numberToHex(fromBlock),
    toBlock: toBlock === 'latest' ? toBlock : numberToHex(toBlock),
  }
  return { method: 'eth_getLogs', params: [{ address: diamond, ...range }] }
}

/**
 * Asks for the logs of one block by its hash. A node that does not have that block answers with an error, whereas a
 * query by number returns an empty list.
 */
export function logsOfBlockCall(diamond: Address, blockHash: Hex): RpcCall {
  return { method: 'eth_getLogs', params: [{ address: diamond, blockHash }] }
}

export function receiptCall(txHash: Hex): RpcCall {
  return { method: 'eth_getTransactionReceipt', params: [txHash] }
}

export function transactionCall(txHash: Hex): RpcCall {
  return { method: 'eth_getTransactionByHash', params: [txHash] }
}

export function resultOf(outcome: RpcOutcome | undefined): unknown {
  if (outcome?.ok === true) return outcome.result
  throw new NodeUnavailableError(`the node refused a call: ${outcome?.message ?? 'no answer'}`)
}

// The parsers below check every field of a node's JSON. Invalid JSON counts as no answer: `NodeUnavailableError`.

/** The header of a block, as `eth_getBlockByNumber` and a subscription to new heads give it. */
export interface RpcHeader {
  readonly block: FollowedBlock
  readonly logsBloom: Hex
}

/** A block as `eth_getBlockByNumber` returns it. */
export interface RpcBlock extends RpcHeader {
  readonly transactions: readonly RpcTransaction[]
}

export interface RpcTransaction {
  readonly hash: Hex
  readonly from: Address
  readonly to: Address | null
  readonly input: Hex
}

/** A log of the Diamond with its position on the chain. */
export interface RpcLog extends RawLog {
  readonly blockNumber: number
  readonly blockHash: Hex
  readonly txHash: Hex
  readonly txIndex: number
  readonly logIndex: number
}

type Fields = Readonly<Record<string, unknown>>

/**
 * Reads a block; `undefined` when the node has no such block. `transactions` is empty when only hashes were asked for.
 */
export function parseBlock(json: unknown): RpcBlock | undefined {
  if (json === null) return undefined
  return {
    ...parseHeader(json),
    transactions: list(fieldsOf(json).transactions)
      .filter((entry) => typeof entry === 'object')
      .map(parseTransaction),
  }
}

/** Reads the header of a block, whatever else comes with it. */
export function parseHeader(json: unknown): RpcHeader {
  const fields = fieldsOf(json)
  return {
    block: {
      number: quantity(fields.number),
      hash: hash(fields.hash),
      parentHash: hash(fields.parentHash),
      timestampMs: quantity(fields.timestamp) * 1000,
    },
    logsBloom: bytes(fields.logsBloom),
  }
}

export function parseTransaction(json: unknown): RpcTransaction {
  const fields = fieldsOf(json)
  return {
    hash: hash(fields.hash),
    from: address(fields.from),
    to: fields.to === null || fields.to === undefined ? null : address(fields.to),
    input: bytes(fields.input),
  }
}

/**
 * Reads logs of one contract and sorts them into chain order. A log of another contract shows that the node passed over
 * what it was asked for, and two logs at one place that it does not know its chain.
 */
export function parseLogs(json: unknown, contract: Address): RpcLog[] {
  const logs = list(json)
    .map((log) => parseLog(log, contract))
    .toSorted((a, b) => a.blockNumber - b.blockNumber || a.logIndex - b.logIndex)
  if (logs.some((log, at) => isSamePlace(log, logs[at + 1]))) throw garbage('logs of which each has its own place')
  return logs
}

function isSamePlace({ blockNumber, logIndex }: RpcLog, next: RpcLog | undefined): boolean {
  return next?.blockNumber === blockNumber && next.logIndex === logIndex
}

function parseLog(json: unknown, contract: Address): RpcLog {
  const fields = fieldsOf(json)
  if (address(fields.address) !== contract) throw garbage('a log of the contract that was asked for')
  if (fields.removed === true) throw garbage('a log of the chain that is not part of it')
  return {
    blockNumber: quantity(fields.blockNumber),
    blockHash: hash(fields.blockHash),
    txHash: hash(fields.transactionHash),
    txIndex: quantity(fields.transactionIndex),
    logIndex: quantity(fields.logIndex),
    topics: list(fields.topics).map(hash),
    data: bytes(fields.data),
  }
}

/** Reads the logs of one contract in a receipt, in their order; none while the transaction is not mined. */
export function logsOfReceipt(json: unknown, contract: Address): RpcLog[] {
  if (json === null) return []
  const logs = list(fieldsOf(json).logs).filter((log) => address(fieldsOf(log).address) === contract)
  return parseLogs(logs, contract)
}

/** Reads a receipt; `undefined` while the transaction is not mined. */
export function parseReceipt(json: unknown): Receipt | undefined {
  if (json === null) return undefined
  const fields = fieldsOf(json)
  return {
    txHash: hash(fields.transactionHash),
    blockHash: hash(fields.blockHash),
    blockNumber: quantity(fields.blockNumber),
    index: quantity(fields.transactionIndex),
    isReverted: quantity(fields.status) === 0,
  }
}

export function quantity(json: unknown): number {
  const value = typeof json === 'string' && /^0x[0-9a-f]{1,14}$/i.test(json) ? Number(json) : Number.NaN
  if (!Number.isSafeInteger(value)) throw garbage('a number')
  return value
}

function hash(json: unknown): Hex {
  const parsed = bytes(json)
  if (parsed.length !== 66) throw garbage('a hash')
  return parsed
}

function bytes(json: unknown): Hex {
  const parsed = typeof json === 'string' ? parseHex(json) : undefined
  if (parsed === undefined) throw garbage('bytes')
  return parsed
}

function address(json: unknown): Address {
  const parsed = typeof json === 'string' ? parseAddress(json) : undefined
  if (parsed === undefined) throw garbage('an address')
  return parsed
}

function list(json: unknown): readonly unknown[] {
  if (!Array.isArray(json)) throw garbage('a list')
  return json
}

function fieldsOf(json: unknown): Fields {
  if (typeof json !== 'object' || json === null) throw garbage('an object')
  return json as Fields
}

function garbage(expected: string): NodeUnavailableError {
  return new NodeUnavailableError(`the node answered with something else where ${expected} is due`)
}
