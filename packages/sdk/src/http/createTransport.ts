import type { BezelError } from '../errors/bezelError.ts'
import { BezelNetworkError } from '../errors/bezelNetworkError.ts'
import { refusalOf } from './refusalOf.ts'
import { retryDelayMs } from './retryDelayMs.ts'

/**
 * Which failures are tried again. `read`: also when no answer came. `idempotent`: the same, for a write that carries a clientId.
 * `answered`: only an answer that says nothing was done. `never`: a struct whose signature is not made again.
 */
export type RetryRule = 'read' | 'idempotent' | 'answered' | 'never'

/** One call of the interface. */
export interface ApiCall {
  readonly operationId: string
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** From `/v1` on, with its query. */
  readonly path: string
  readonly body?: unknown
  readonly auth: 'none' | 'read' | 'agent'
  readonly retry: RetryRule
}

export interface TransportOptions {
  readonly baseUrl: string
  readonly fetch: typeof globalThis.fetch
  readonly timeoutMs: number
  readonly maxRetries: number
  readonly now: () => number
  /** Made anew for each try: a signature counts once. */
  readonly headersOf: (call: ApiCall, body: string | undefined, nowMs: number) => Promise<Record<string, string>>
}

/** Sends calls: signs, waits, retries what is safe, and turns refusals into typed errors. */
export interface Transport {
  call<Answer>(call: ApiCall): Promise<Answer>
}

/** A wait that the service asks for and that is longer is for the caller to decide about. */
const MAX_WAIT_MS = 61_000

interface Failure {
  readonly error: BezelError
  readonly retryAfterMs: number
}

export function createTransport(options: TransportOptions): Transport {
  const { maxRetries } = options
  return {
    async call<Answer>(call: ApiCall): Promise<Answer> {
      for (let attempt = 0; ; attempt += 1) {
        const outcome = await send(options, call)
        if (!('error' in outcome)) return outcome.answer as Answer
        const delayMs = retryDelayMs(attempt, outcome.retryAfterMs)
        if (attempt >= maxRetries || delayMs > MAX_WAIT_MS || !mayRetry(call.retry, outcome.error)) throw outcome.error
        await new Promise((resolve) => setTimeout(resolve, delayMs))
      }
    },
  }
}

/** `interface.md` section 7: refusals that may be sent again as they are, and lost answers of reads and of idempotent writes. */
function mayRetry(rule: RetryRule, error: BezelError): boolean {
  if (rule === 'never') return false
  if (error instanceof BezelNetworkError) return rule !== 'answered'
  return error.retryable
}

async function send(options: TransportOptions, call: ApiCall): Promise<{ readonly answer: unknown } | Failure> {
  const { baseUrl, now } = options
  const { method, path } = call
  const url = baseUrl + path
  const text = call.body === undefined ? undefined : JSON.stringify(call.body)
  const sentAtMs = now()
  const headers = await options.headersOf(call, text, sentAtMs)
  const failed = (
    code: 'NETWORK_ERROR' | 'TIMEOUT' | 'UNEXPECTED_RESPONSE',
    what: string,
    cause: unknown,
  ): Failure => ({
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
  } catch (error) {
    if (isTimeout(error)) return failed('TIMEOUT', `no answer within ${options.timeoutMs / 1000} s`, error)
    return failed('NETWORK_ERROR', `the connection failed (${wordsOf(error)})`, error)
  }
  const body = parseJson(content)
  if (!answer.ok)
    return { error: refusalOf(answer, body, { method, url, sentAtMs }), retryAfterMs: retryAfterMs(answer) }
  return body === undefined ? failed('UNEXPECTED_RESPONSE', 'the answer was no JSON', undefined) : { answer: body }
}

function isTimeout(error: unknown): boolean {
  return error instanceof Error && error.name === 'TimeoutError'
}

/** fetch hides what happened behind "fetch failed". */
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

function retryAfterMs(answer: Response): number {
  const seconds = Number(answer.headers.get('retry-after') ?? '0')
  return Number.isFinite(seconds) && seconds > 0 ? seconds * 1000 : 0
}
