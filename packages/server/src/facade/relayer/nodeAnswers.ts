import type { Hex } from '@bezel/protocol'
import { parseReceipt } from '../../chain/blocks.ts'
import type { RpcOutcome } from '../../chain/rpcClient.ts'
import type { RelayVersion, VersionKind } from '../../store/relayStore.ts'
import { weiOf } from './fees.ts'

/** The outcome of sending a transaction to a node. */
export type SendOutcome =
  /** The node has the transaction, now or already. */
  | 'taken'
  /** The nonce is used by this transaction, by another version of it, or by somebody else. Receipts tell which. */
  | 'nonce_used'
  | 'no_funds'
  /** The node wants a higher fee for the transaction, or for replacing another with it. */
  | 'underpriced'
  /** The node will never take this transaction, whatever fee is offered. */
  | 'hopeless'
  /** Any other refusal: try again later. */
  | 'refused'

/** The patterns of error messages, in order of precedence, because nodes nest one message in another. */
const PATTERNS: readonly (readonly [RegExp, SendOutcome])[] = [
  [/already known|known transaction|already imported|already exists|already in (?:the )?(?:mem|tx)?pool/i, 'taken'],
  [/insufficient funds|insufficient balance|doesn't have enough funds/i, 'no_funds'],
  [/nonce (?:is )?too low|nonce too small|old nonce|nonce has already been used|invalid nonce.*lower/i, 'nonce_used'],
  [
    /underpriced|less than block base fee|fee ?cap|fee ?too ?low|priority ?fee.* too low|gas ?price too low|below .*(?:minimum|base fee)|tip .*minimum/i,
    'underpriced',
  ],
  [/intrinsic gas|exceeds block gas limit|gas limit (?:is )?too high|oversized|invalid sender/i, 'hopeless'],
]

/** Interprets a node's answer to a sent transaction. A node that answers with another hash has not taken this one. */
export function sendOutcomeOf(outcome: RpcOutcome, hash: Hex): SendOutcome {
  if (outcome.ok)
    return typeof outcome.result === 'string' && outcome.result.toLowerCase() === hash ? 'taken' : 'refused'
  return PATTERNS.find(([pattern]) => pattern.test(outcome.message))?.[1] ?? 'refused'
}

/** A version that is in a block, which may still be reorganised away. */
export interface MinedVersion {
  readonly hash: Hex
  readonly kind: VersionKind
  readonly blockNumber: number
  readonly blockHash: Hex
  readonly costWei: bigint
  /** True when the transaction is in the block and reverted. */
  readonly isReverted: boolean
}

/**
 * The result of reading the receipts of an entry's versions: the mined version, none, or unknown because the node
 * refused to answer for one of them.
 */
export type Receipts = MinedVersion | 'none' | 'unknown'

/** Parses receipts. `outcomes` are in the order of the versions. */
export function parseMined(versions: readonly RelayVersion[], outcomes: readonly RpcOutcome[]): Receipts {
  const found = versions.map((version, i) => receiptIn(version, outcomes[i]))
  const mined = found.find((one) => typeof one === 'object')
  if (mined !== undefined) return mined
  return found.includes('unknown') ? 'unknown' : 'none'
}

function receiptIn({ hash, kind }: RelayVersion, outcome: RpcOutcome | undefined): Receipts {
  if (outcome?.ok !== true) return 'unknown'
  try {
    const receipt = parseReceipt(outcome.result)
    if (receipt === undefined) return 'none'
    const costWei = costOf(outcome.result)
    if (receipt.txHash !== hash || costWei === undefined) return 'unknown'
    const { blockNumber, blockHash, isReverted } = receipt
    return { hash, kind, blockNumber, blockHash, costWei, isReverted }
  } catch {
    return 'unknown'
  }
}

/** Returns the cost in wei. Some roll-ups report the fee for publishing the bytes apart from the gas (`l1Fee`). */
function costOf(receipt: unknown): bigint | undefined {
  const { gasUsed, effectiveGasPrice, l1Fee } = receipt as Readonly<Record<string, unknown>>
  const used = weiOf(gasUsed)
  const price = weiOf(effectiveGasPrice)
  return used === undefined || price === undefined ? undefined : used * price + (weiOf(l1Fee) ?? 0n)
}
