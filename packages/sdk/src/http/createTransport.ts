import type { NotificationError } from '@bezel/protocol/wire'
import type { BezelError, NetworkFailure } from '../errors/bezelError.ts'
import type { Signer } from '../signing/typedData.ts'
import { BezelNetworkError, BezelApiError, ClockSkewError, docsAddress } from '../errors/serviceErrors.ts'
import { createSeenCommits, type SeenCommits } from './seenCommits.ts'

/**
 * The failures after which a call is retried. `read`: a refusal that allows it, or no answer at all. `idempotent`: the
 * same, for a write that carries a clientId. `answered`: only a refusal which says that nothing was done. `never`:
 * none, because the signed struct is not made again.
 */
export type RetryPolicy = 'read' | 'idempotent' | 'answered' | 'never'

/** A call of the interface. */
export interface ApiCall {
  readonly operationId: string
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** Path from `/v1` on, with its query. */
  readonly path: string
  readonly body?: unknown
  /** The credentials: none, the key or the agent, the agent alone, or the trader's own wallet. */
  readonly auth: 'none' | 'read' | 'agent' | { readonly wallet: Signer }
  readonly retry: RetryPolicy
}

export interface TransportOptions {
  readonly baseUrl: string
  readonly fetch: typeof globalThis.fetch
  readonly timeoutMs: number
  readonly maxRetries: number
  readonly now: () => number
  /** Makes the headers of one attempt; called for each attempt, because a signature is accepted once. */
  readonly headersOf: (call: ApiCall, body: string | undefined, nowMs: number) => Promise<Record<string, string>>
  /** Prefix of the service's own headers. */
  readonly headerPrefix: string
}

/** Sends calls: signs, waits, retries what is safe, and turns refusals into typed errors. */
export interface Transport {
  call<Answer>(call: ApiCall): Promise<Answer>
}

/** Longest pause that is waited out. A longer Retry-After of the service is left to the caller. */
const MAX_WAIT_MS = 61_000

const FIRST_DELAY_MS = 250

const MAX_DELAY_MS = 4_000

/** Creates the transport of a client. */
export function createTransport(options: TransportOptions): Transport {
  const { maxRetries } = options
  const commits = createSeenCommits(options.headerPrefix)
  return {
    async call<Answer>(call: ApiCall): Promise<Answer> {
      for (let attempt = 0; ; attempt += 1) {
        const outcome = await send(options, call, commits)
        if (!('error' in outcome)) return outcome.answer as Answer
        const delayMs = retryDelayMs(attempt, outcome.retryAfterMs)
        if (attempt >= maxRetries || delayMs > MAX_WAIT_MS || !mayRetry(call.retry, outcome.error)) {
          // A database that was put back to an earlier state never has the commit that was seen before.
          if (isLagging(outcome.error)) commits.forget()
          throw outcome.error
        }
        await new Promise((resolve) => setTimeout(resolve, delayMs))
      }
    },
  }
}

/** Returns true when a node did not know in time what another one had committed. */
function isLagging(error: BezelError): boolean {
  return error instanceof BezelApiError && error.code === 'NOT_READY' && error.details.reason === 'store_lagging'
}

/**
 * Decides whether a failed call is sent again: refusals that allow it, and lost answers of reads and of idempotent
 * writes.
 */
function mayRetry(rule: RetryPolicy, error: BezelError): boolean {
  if (rule === 'never') return false
  if (error instanceof BezelNetworkError) return rule !== 'answered'
  return error.retryable
}

/**
 * Returns the pause before the next attempt: doubled after each attempt (the first is 0), and never less than the
 * service asked for.
 */
export function retryDelayMs(attempt: number, retryAfterMs = 0): number {
  return Math.max(Math.min(FIRST_DELAY_MS * 2 ** attempt, MAX_DELAY_MS), retryAfterMs)
}

interface Failure {
  readonly error: BezelError
  readonly retryAfterMs: number
}

async function send(
  options: TransportOptions,
  call: ApiCall,
  commits: SeenCommits,
): Promise<{ readonly answer: unknown } | Failure> {
  const { baseUrl, now } = options
  const { method, path } = call
  const url = baseUrl + path
  const text = call.body === undefined ? undefined : JSON.stringify(call.body)
  const sentAtMs = now()
  const headers = { ...commits.headersOf(call), ...(await options.headersOf(call, text, sentAtMs)) }
  const failed = (code: NetworkFailure, what: string, cause: unknown): Failure => ({
    error: new BezelNetworkError(code, { method, url, what, cause }),
    retryAfterMs: 0,
  })
  let answer: Response
  let content: string
  try {
    answer = await options.fetch(url, {
      method,
      headers: {
        accept: 'application/json',
        ...headers,
        ...(text === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(text === undefined ? {} : { body: text }),
      signal: AbortSignal.timeout(options.timeoutMs),
    })
    content = await answer.text()
    commits.note(answer)
  } catch (error) {
    if (isTimeout(error)) return failed('TIMEOUT', `no answer within ${options.timeoutMs / 1000} s`, error)
    return failed('NETWORK_ERROR', `the connection failed (${wordsOf(error)})`, error)
  }
  const body = parseJson(content)
  if (!answer.ok)
    return { error: refusalOf(answer, body, { method, url, baseUrl, sentAtMs }), retryAfterMs: retryAfterOf(answer) }
  return body === undefined ? failed('UNEXPECTED_RESPONSE', 'the answer was no JSON', undefined) : { answer: body }
}

function isTimeout(error: unknown): boolean {
  return error instanceof Error && error.name === 'TimeoutError'
}

/** Returns the cause of a failed fetch, which hides behind "fetch failed". */
function wordsOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause instanceof Error && error.cause.message !== '' ? error.cause.message : error.message
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

function retryAfterOf(answer: Response): number {
  const seconds = Number(answer.headers.get('retry-after') ?? '0')
  return Number.isFinite(seconds) && seconds > 0 ? seconds * 1000 : 0
}

interface ErrorBody {
  readonly code: string
  readonly message: string
  readonly details: Readonly<Record<string, unknown>> | undefined
}

/** Returns the typed error for an answer that is not a success. */
function refusalOf(
  answer: Response,
  answered: unknown,
  of: { readonly method: string; readonly url: string; readonly baseUrl: string; readonly sentAtMs: number },
): BezelApiError | BezelNetworkError {
  const body = errorBodyOf(answered)
  if (body === undefined) {
    const what = `the answer had status ${answer.status} and was no error of the interface`
    return new BezelNetworkError('UNEXPECTED_RESPONSE', { ...of, what, status: answer.status })
  }
  const requestId = answer.headers.get('x-request-id') ?? undefined
  const docs = docsAddress(of.baseUrl, body.details)
  const refusal = { ...body, status: answer.status, requestId, docs }
  if (body.code !== 'TIMESTAMP_OUT_OF_WINDOW') return new BezelApiError(refusal)
  const serverMs = serverTimeMs(answer, body.details)
  return new ClockSkewError(refusal, serverMs === undefined ? undefined : of.sentAtMs - serverMs)
}

/** Returns the error of an answer; `undefined` when it is none. The notification operations call the code `error`. */
function errorBodyOf(answered: unknown): ErrorBody | undefined {
  if (typeof answered !== 'object' || answered === null) return undefined
  const body = answered as Partial<ErrorBody> & Partial<NotificationError>
  const code = body.success === false ? body.error : body.code
  const { message, details } = body
  return typeof code === 'string' && typeof message === 'string' ? { code, message, details } : undefined
}

/**
 * Returns the service's time. Its details are exact; the `Date` header counts seconds, and browsers hide it from other
 * origins.
 */
function serverTimeMs(answer: Response, details: ErrorBody['details']): number | undefined {
  const told = details?.['serverTime']
  if (typeof told === 'number') return told
  const date = Date.parse(answer.headers.get('date') ?? '')
  return Number.isNaN(date) ? undefined : date
}

/** Returns the query string of the given parameters, in their order; empty when there is none. */
export function queryOf(parameters: Readonly<Record<string, string | number | undefined>>): string {
  const given = Object.entries(parameters).filter(([, value]) => value !== undefined)
  if (given.length === 0) return ''
  return `?${given.map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`).join('&')}`
}

/** Returns true for a text that is an address of the web, with its protocol. */
export function isHttpUrl(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)
}
