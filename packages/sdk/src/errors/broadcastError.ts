import { explainContractError, revertReason } from '@bezel/protocol/wire'
import { BezelError } from './bezelError.ts'

/** The error for a node that could not be read through the sender. The call that failed has sent nothing. */
export class BezelNodeError extends BezelError {
  override readonly name = 'BezelNodeError'
  declare readonly code: 'NODE_FAILED'

  /** `what` names the question, for instance `eth_chainId`. */
  constructor(what: string, cause: unknown) {
    const message = `The sender's node has no answer to ${what} (${saidBy(cause)}). Nothing was sent. Check that the node is up, that its URL is right and that it is one of this chain, then try again.`
    super('NODE_FAILED', message, { cause, retryable: true })
  }
}

/**
 * Reasons for which a sender fails. `no_gas`: its account can't pay for the gas. `reverted`: the contracts would
 * revert. `declined`: the owner of the wallet said no. `unknown`: any other.
 */
export type BroadcastFailure = 'no_gas' | 'reverted' | 'declined' | 'unknown'

/** The error of a sender that failed. Nothing was sent, unless `reason` is `unknown`: then it may have been. */
export class BroadcastError extends BezelError {
  override readonly name = 'BroadcastError'
  declare readonly code: 'BROADCAST_FAILED'
  /** Reason of the failure. A node that did not answer may have taken the transaction, so that is `unknown`. */
  readonly reason: BroadcastFailure
  /** Name of the contracts' error, where `reason` is `reverted` and the node told it. */
  readonly errorName: string | undefined
  /** Id of the order that the transaction was for; `undefined` where it was for none, or for several. */
  readonly orderId: string | undefined

  constructor(cause: unknown, of: { readonly sender?: string; readonly orderId?: string | undefined } = {}) {
    const { reason, errorName, words } = failureOf(cause, of.sender ?? 'the sender')
    const subject = of.orderId === undefined ? 'the account' : `order ${of.orderId}`
    const message =
      reason === 'unknown'
        ? `The transaction could not be sent: ${words} Look at ${subject} before you send it again: a node that did not answer may have taken it.`
        : `The transaction was not sent: ${words}`
    super('BROADCAST_FAILED', message, { cause })
    this.reason = reason
    this.errorName = errorName
    this.orderId = of.orderId
  }
}

interface Failure {
  readonly reason: BroadcastFailure
  readonly errorName?: string | undefined
  /** The failure and its remedy in whole sentences. */
  readonly words: string
}

/** Words of nodes and of viem for an account that can't pay for the gas. */
const NO_GAS_PATTERN =
  /(?:insufficient|enough|lack of) funds|exceeds the balance of the account|gas required exceeds allowance/i

/** Code of a wallet whose owner said no (EIP-1193). */
const DECLINED_CODE = 4001

/** Code of a node for a call that reverts. */
const REVERT_CODE = 3

/** Words of nodes, wallets and viem for a call that reverts. */
const REVERT_PATTERN = /\brevert(?:s|ed)?\b/i

/** Length of 32 bytes as text: a hash. The error of a contract has four bytes more than a multiple of that. */
const HASH_CHARS = 66

function failureOf(error: unknown, sender: string): Failure {
  const causes = causesOf(error)
  const data = causes.map(revertDataOf).find((found) => found !== undefined)
  // Any error may carry bytes, such as the hash of what was sent.
  if (data !== undefined && causes.flatMap(partsOf).some(speaksOfRevert)) return revertOf(data)
  // Asked before a revert without data, because viem takes an estimate that the balance does not allow for one.
  if (causes.some(({ message, details }) => NO_GAS_PATTERN.test(`${String(message)} ${String(details)}`))) {
    const words = `${sender} has too little of the native coin to pay for the gas. Send it some, and try again.`
    return { reason: 'no_gas', words }
  }
  if (causes.some(({ code }) => code === DECLINED_CODE)) {
    return { reason: 'declined', words: 'the wallet declined it. Confirm it when the wallet asks.' }
  }
  const isRevert = causes.some(({ code, name }) => code === REVERT_CODE || name === 'ExecutionRevertedError')
  return isRevert ? revertOf(undefined) : { reason: 'unknown', words: `${saidBy(error)}.` }
}

function revertOf(data: `0x${string}` | undefined): Failure {
  const { errorName, text } = revertReason(data)
  const known = explainContractError(errorName)
  const said = text === null ? undefined : `They say: ${text}`
  const why = said ?? (known && `${known.words} ${known.cause} ${known.remedy}`) ?? 'Read the account again.'
  const name = errorName === null ? '' : ` with ${errorName}`
  return { reason: 'reverted', errorName: errorName ?? undefined, words: `the contracts would revert${name}. ${why}` }
}

/** One error of a chain of causes. Nodes, wallets and libraries agree on none of the fields. */
interface Cause {
  readonly name?: unknown
  readonly code?: unknown
  readonly message?: unknown
  readonly details?: unknown
  readonly data?: unknown
  readonly cause?: unknown
}

/** Bounds the walk along the causes, which may form a circle. */
const MAX_CAUSES = 12

function causesOf(error: unknown): readonly Cause[] {
  const causes: Cause[] = []
  let next = error
  while (typeof next === 'object' && next !== null && causes.length < MAX_CAUSES) {
    causes.push(next as Cause)
    next = (next as Cause).cause
  }
  return causes
}

/** An object around the bytes of a revert: that of a node, or that of a wallet around it. */
interface NestedData extends Cause {
  readonly originalError?: Cause
}

function nestedOf({ data }: Cause): NestedData | undefined {
  return typeof data === 'object' && data !== null ? (data as NestedData) : undefined
}

/** Returns an error and those that a wallet put into its data. */
function partsOf(cause: Cause): readonly Cause[] {
  const nested = nestedOf(cause)
  return [cause, nested ?? {}, nested?.originalError ?? {}]
}

function speaksOfRevert({ code, name, message, details, data }: Cause): boolean {
  const isSaid = [message, details, data].some((text) => typeof text === 'string' && REVERT_PATTERN.test(text))
  return isSaid || code === REVERT_CODE || name === 'ExecutionRevertedError'
}

/** Returns the bytes of a revert: bare or in an object, as nodes tell them, or as a wallet passes them on. */
function revertDataOf(cause: Cause): `0x${string}` | undefined {
  const nested = nestedOf(cause)
  const found = nested === undefined ? cause.data : (nested.data ?? nested.originalError?.data)
  // Some nodes put a word before the bytes, as in "Reverted 0x08c379a0...".
  const bytes = typeof found === 'string' ? /0x(?:[0-9a-fA-F]{2}){4,}$/.exec(found)?.[0] : undefined
  return bytes?.length === HASH_CHARS ? undefined : (bytes as `0x${string}` | undefined)
}

/** Returns the words of a failure without their full stop: the first line, and the detail that viem keeps apart. */
function saidBy(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { details } = error as Cause
  const texts = [error.message, ...(typeof details === 'string' ? [details] : [])]
  return [...new Set(texts.map((text) => text.replace(/\.?(?:\n[^]*)?$/, '')))].join(': ')
}
