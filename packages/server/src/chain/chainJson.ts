import { NodeUnavailableError } from '../ground/unavailable.ts'
import { parseAddress, parseHex, type Address, type Hex } from '@bezel/protocol'
import type { FollowedBlock } from '../store/blockStore.ts'
import type { RawLog } from './events/rawLog.ts'
import type { Receipt } from './chainBlock.ts'

// JSON of a node to values, with every field checked: a node that answers garbage is a node that did not answer.

/** A block as a node gives it with its transactions. */
export interface RpcBlock {
  readonly block: FollowedBlock
  readonly logsBloom: Hex
  readonly transactions: readonly RpcTransaction[]
}

export interface RpcTransaction {
  readonly hash: Hex
  readonly from: Address
  readonly to: Address | null
  readonly input: Hex
}

/** A log of the Diamond and where it stands. */
export interface RpcLog extends RawLog {
  readonly blockNumber: number
  readonly blockHash: Hex
  readonly txHash: Hex
  readonly txIndex: number
  readonly logIndex: number
}

type Fields = Readonly<Record<string, unknown>>

/** `undefined` when the node has no such block. Without transactions when they were not asked for. */
export function parseBlock(json: unknown): RpcBlock | undefined {
  if (json === null) return undefined
  const fields = fieldsOf(json)
  return {
    block: {
      number: quantity(fields.number),
      hash: hash(fields.hash),
      parentHash: hash(fields.parentHash),
      timestampMs: quantity(fields.timestamp) * 1000,
    },
    logsBloom: bytes(fields.logsBloom),
    transactions: list(fields.transactions)
      .filter((entry) => typeof entry === 'object')
      .map(parseTransaction),
  }
}

function parseTransaction(json: unknown): RpcTransaction {
  const fields = fieldsOf(json)
  return {
    hash: hash(fields.hash),
    from: address(fields.from),
    to: fields.to === null || fields.to === undefined ? null : address(fields.to),
    input: bytes(fields.input),
  }
}

/** In the order of the chain. */
export function parseLogs(json: unknown): RpcLog[] {
  return list(json)
    .map(parseLog)
    .toSorted((a, b) => a.blockNumber - b.blockNumber || a.logIndex - b.logIndex)
}

function parseLog(json: unknown): RpcLog {
  const fields = fieldsOf(json)
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

/** `undefined` while it is not mined. */
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
