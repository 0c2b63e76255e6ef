import { NodeUnavailableError } from '../ground/unavailable.ts'
import { parseAddress, parseHex, type Address, type Hex } from '@bezel/protocol'
import { diamondCall } from '../chain/diamondCalls.ts'
import type { RawLog } from '../chain/events/rawLog.ts'
import type { RpcClient } from '../chain/rpcClient.ts'
import { type RpcOutcome } from '../chain/rpcOutcome.ts'

/** What the node knows of a transaction that somebody reported. */
export interface ReportedTransaction {
  readonly from: Address
  readonly to: Address | null
  readonly input: Hex
  /** `undefined` while it is not mined. */
  readonly receipt: { readonly isReverted: boolean; readonly logs: readonly RawLog[] } | undefined
}

/** `undefined`: the node does not know it yet, or not any more. */
export interface ReportLook {
  readonly delegate: Address
  readonly transaction: ReportedTransaction | undefined
}

/** The transaction, its receipt and the trader's delegate in one round trip. Throws `NodeUnavailableError`. */
export async function lookAtReport(
  client: RpcClient,
  of: { readonly diamond: Address; readonly trader: Address; readonly hash: Hex },
): Promise<ReportLook> {
  const delegate = diamondCall(of.diamond, 'getTradingDelegate', [of.trader])
  const [delegateOutcome, transaction, receipt] = await client.batch([
    delegate.call,
    { method: 'eth_getTransactionByHash', params: [of.hash] },
    { method: 'eth_getTransactionReceipt', params: [of.hash] },
  ])
  if (delegateOutcome === undefined) throw new NodeUnavailableError('the node gave no answer')
  return {
    delegate: delegate.decode(delegateOutcome) as Address,
    transaction: readTransaction(resultOf(transaction), resultOf(receipt), of.diamond),
  }
}

type Fields = Readonly<Record<string, unknown>>

function resultOf(outcome: RpcOutcome | undefined): Fields | undefined {
  if (outcome?.ok !== true) throw new NodeUnavailableError('the node could not look a transaction up')
  if (outcome.result === null) return undefined
  if (typeof outcome.result !== 'object') throw garbage()
  return outcome.result as Fields
}

function readTransaction(
  transaction: Fields | undefined,
  receipt: Fields | undefined,
  diamond: Address,
): ReportedTransaction | undefined {
  if (transaction === undefined) return undefined
  const from = addressIn(transaction.from)
  const input = bytesIn(transaction.input)
  if (from === undefined) throw garbage()
  return { from, to: addressIn(transaction.to) ?? null, input, receipt: readReceipt(receipt, diamond) }
}

function readReceipt(receipt: Fields | undefined, diamond: Address): ReportedTransaction['receipt'] {
  if (receipt === undefined) return undefined
  const { status, logs } = receipt
  if ((status !== '0x0' && status !== '0x1') || !Array.isArray(logs)) throw garbage()
  const own = (logs as readonly Fields[]).filter(({ address }) => addressIn(address) === diamond)
  return { isReverted: status === '0x0', logs: own.map(readLog) }
}

function readLog({ topics, data }: Fields): RawLog {
  if (!Array.isArray(topics)) throw garbage()
  return { topics: topics.map(bytesIn), data: bytesIn(data) }
}

function addressIn(value: unknown): Address | undefined {
  return typeof value === 'string' ? parseAddress(value) : undefined
}

function bytesIn(value: unknown): Hex {
  const bytes = typeof value === 'string' ? parseHex(value) : undefined
  if (bytes === undefined) throw garbage()
  return bytes
}

function garbage(): NodeUnavailableError {
  return new NodeUnavailableError('the node described a transaction with something that makes no sense')
}
