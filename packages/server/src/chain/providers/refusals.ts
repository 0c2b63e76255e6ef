import { isRevert, type RpcOutcome } from '../rpcClient.ts'
import { NodeUnavailableError } from '../../ground/unavailable.ts'

/** The ways in which a provider can fail, as its status, the log and `/ready` name them. */
export type ProviderFault =
  /** No answer, an HTTP error, or something that is no answer. */
  | 'away'
  /** The provider says that it is asked too often. */
  | 'limited'
  /** The provider is on another chain, or does not say on which. */
  | 'wrong_chain'

/** Thrown when one provider did not give usable answers to all calls of a batch. */
export class ProviderError extends NodeUnavailableError {
  readonly fault: ProviderFault
  /** The time for which the provider asks to be left alone. */
  readonly retryAfterMs: number | undefined

  constructor(
    fault: ProviderFault,
    message: string,
    of: { readonly cause?: unknown; readonly retryAfterMs?: number | undefined } = {},
  ) {
    super(message, of.cause === undefined ? undefined : { cause: of.cause })
    this.fault = fault
    this.retryAfterMs = of.retryAfterMs
  }
}

/** Thrown when too much waits for a provider already. It was not asked, so this says nothing about it. */
export class QueueFullError extends ProviderError {}

/** Matches a refusal of a whole batch because of its size. */
const BATCH_PATTERN = /batch|too many (?:calls|requests in)|payload too large|entity too large|request too large/i

/** Returns true when a text, the answer to a whole batch, refuses its size and not its calls. */
export function refusesBatch(status: number, text: string): boolean {
  if (status === 413) return true
  return !refusesRate(status, text) && BATCH_PATTERN.test(text.slice(0, 1_000))
}

/**
 * Returns true when the answers to the calls of a batch refuse the batch: geth gives one error with the id of the first
 * call, others the same error to each. Where one call was answered well, an error is about its call alone.
 */
export function refusesBatchInside(answers: readonly (RpcOutcome | undefined)[]): boolean {
  if (answers.length < 2 || answers.some((answer) => answer?.ok === true)) return false
  const refuses = (answer: RpcOutcome | undefined): boolean =>
    answer?.ok === false && !isRevert(answer) && !isLimited(answer) && BATCH_PATTERN.test(answer.message)
  return answers.some(refuses)
}

/** Matches the ways in which providers say that they are asked too often. */
const RATE_PATTERN =
  /rate.?limit|too many requests(?! in)|compute units|throughput|capacity (?:limit|exceeded)|request limit|requests per second|quota|throttl|slow down/i

/** Returns true when the answer to a whole batch says that the provider is asked too often. */
export function refusesRate(status: number, text: string): boolean {
  return status === 429 || (status !== 413 && RATE_PATTERN.test(text.slice(0, 1_000)))
}

const TOO_MANY_REQUESTS = 429

/** Error code by which providers refuse what is beyond a limit, also a range of logs. */
const LIMIT_EXCEEDED = -32_005

/** Returns true when the answer to one call says that the provider is asked too often. The call itself may be right. */
export function isLimited(outcome: RpcOutcome): boolean {
  if (outcome.ok || isRevert(outcome)) return false
  if (outcome.code === TOO_MANY_REQUESTS) return true
  if (RATE_PATTERN.test(outcome.message)) return true
  return outcome.code === LIMIT_EXCEEDED && !/range|results|logs|blocks|size/i.test(outcome.message)
}

/** The longest time for which a provider that asks for it is left alone. */
const MAX_RETRY_AFTER_MS = 60_000

/** Reads `Retry-After`: seconds, or a date. */
export function retryAfterMs(header: string | null, nowMs: number): number | undefined {
  if (header === null) return undefined
  const seconds = Number(header)
  const ms = header.trim() !== '' && Number.isFinite(seconds) ? seconds * 1_000 : Date.parse(header) - nowMs
  return Number.isFinite(ms) ? Math.min(MAX_RETRY_AFTER_MS, Math.max(0, ms)) : undefined
}
