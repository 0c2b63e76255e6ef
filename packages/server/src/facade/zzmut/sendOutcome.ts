import type { Hex } from '@bezel/protocol'
import type { RpcOutcome } from '../../chain/rpcOutcome.ts'

/** What a node makes of a transaction that was sent to it. */
export type SendOutcome =
  /** It has it, now or already. */
  | 'taken'
  /** The nonce is used: by this transaction, another version of it, or somebody else. Receipts tell. */
  | 'nonce_used'
  | 'no_funds'
  /** It wants more for it, or for taking it in the place of another. */
  | 'underpriced'
  /** It will never take these bytes, whatever is offered. */
  | 'hopeless'
  /** Anything else: try again later. */
  | 'refused'

/** In this order, because nodes put one sentence into another. */
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

/** A node that answers with the hash of another transaction has not taken this one. */
export function sendOutcomeOf(outcome: RpcOutcome, hash: Hex): SendOutcome {
  if (outcome.ok)
    return typeof outcome.result === 'string' && outcome.result.toLowerCase() === hash ? 'taken' : 'refused'
  return PATTERNS.find(([pattern]) => pattern.test(outcome.message))?.[1] ?? 'refused'
}
