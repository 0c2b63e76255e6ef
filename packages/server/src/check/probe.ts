import { parseRpcAnswer, type RpcCall, type RpcClient, type RpcOutcome } from '../chain/rpcClient.ts'
import { addressOf } from '../chain/providers/provider.ts'
import { isLimited, refusesRate, retryAfterMs } from '../chain/providers/refusals.ts'
import { AnswerTooLongError, boundedText } from '../ground/boundedText.ts'
import { NodeUnavailableError } from '../ground/unavailable.ts'
import { setTimeout as sleep } from 'node:timers/promises'
import { quoted } from './finding.ts'

/** Outcome of one request to a provider. */
export type ProbeAnswer =
  | { readonly kind: 'answered'; readonly outcomes: readonly RpcOutcome[]; readonly elapsedMs: number }
  /** The provider answered, but not the calls. `words` says what it said; `isRate` is true for too many requests. */
  | { readonly kind: 'refused'; readonly words: string; readonly isRate: boolean; readonly retryMs: number }
  /** Nobody answered. `isCut` is true for a connection that was open and ended. */
  | { readonly kind: 'silent'; readonly words: string; readonly isCut: boolean }

/** The clock of a server, as its answer showed it. */
export interface ClockReading {
  /** Time by which this machine's clock is ahead of the server's, in ms; negative when it is behind. */
  readonly aheadMs: number
}

/** One provider of a chain, asked without any of the service's own help, so that its limits show. */
export interface Probe {
  readonly url: string
  /** Sends these calls as one batch. Never throws. */
  ask(calls: readonly RpcCall[]): Promise<ProbeAnswer>
  /**
   * Asks as `ask` does, and again, a few times, when the provider says that requests come too fast, or ends the
   * connection: one that is kept open may end at the moment of the next request.
   */
  askPatiently(calls: readonly RpcCall[]): Promise<ProbeAnswer>
  /** Returns the provider's clock by its last answer with a date; `undefined` when none had one. */
  clock(): ClockReading | undefined
}

interface ProbeOptions {
  readonly url: string
  readonly now: () => number
}

/** Timeout of one request: twice that of the service. */
const TIMEOUT_MS = 10_000

/** The most bytes of an answer: the code of all facets and the logs of 10,000 blocks are below it. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024

/** Pause before a request that came too fast is repeated, where the provider names none, and the longest one. */
const RETRY_MS = 1_000
const MAX_RETRY_MS = 5_000

const MAX_TRIES = 4

export function createProbe({ url, now }: ProbeOptions): Probe {
  const { address, headers } = addressOf(url)
  let clock: ClockReading | undefined

  async function ask(calls: readonly RpcCall[]): Promise<ProbeAnswer> {
    const body = JSON.stringify(calls.map(({ method, params }, id) => ({ jsonrpc: '2.0', id, method, params })))
    const sentAtMs = now()
    const started = performance.now()
    let answer: Response
    let text: string
    try {
      answer = await fetch(address, { method: 'POST', headers, body, signal: AbortSignal.timeout(TIMEOUT_MS) })
      text = await boundedText(answer, MAX_ANSWER_BYTES)
    } catch (error) {
      return { kind: 'silent', words: quoted(reasonOf(error), url), isCut: CUT_CODES.has(causeOf(error)?.code) }
    }
    const elapsedMs = performance.now() - started
    clock = readClock(answer.headers.get('date'), sentAtMs, now()) ?? clock
    return judge(
      { status: answer.status, text, retryAfter: answer.headers.get('retry-after') },
      calls.length,
      elapsedMs,
    )
  }

  function judge(
    { status, text, retryAfter }: { status: number; text: string; retryAfter: string | null },
    count: number,
    elapsedMs: number,
  ): ProbeAnswer {
    const refused = (words: string, isRate: boolean): ProbeAnswer => ({
      kind: 'refused',
      words: quoted(words, url),
      isRate,
      retryMs: retryMsOf(retryAfter),
    })
    try {
      const outcomes = parseRpcAnswer(text, count).filter((outcome) => outcome !== undefined)
      if (outcomes.length < count) return refused('a call of the batch was left unanswered', false)
      const limited = outcomes.find((outcome) => isLimited(outcome))
      if (limited?.ok === false) return refused(limited.message, true)
      return { kind: 'answered', outcomes, elapsedMs }
    } catch (error) {
      if (!(error instanceof NodeUnavailableError)) throw error
      const words = errorMessageIn(text) ?? error.message
      return refused(`HTTP ${status}: ${words}`, refusesRate(status, words))
    }
  }

  return {
    url,
    ask,
    async askPatiently(calls) {
      for (let tries = 1; ; tries += 1) {
        const answer = await ask(calls)
        const { retryMs, isAgain } = repeatOf(answer)
        if (!isAgain || tries === MAX_TRIES) return answer
        await sleep(retryMs)
      }
    },
    clock: () => clock,
  }
}

/**
 * Makes a client of the parts of the service that read the chain, over a provider that takes batches of at most
 * `batchSize` calls.
 */
export function clientOf(probe: Probe, batchSize: number): RpcClient {
  let roundTrips = 0
  return {
    roundTrips: () => roundTrips,
    async batch(calls) {
      const outcomes: RpcOutcome[] = []
      for (let from = 0; from < calls.length; from += batchSize) {
        roundTrips += 1
        const answer = await probe.askPatiently(calls.slice(from, from + batchSize))
        if (answer.kind !== 'answered') throw new NodeUnavailableError(answer.words)
        outcomes.push(...answer.outcomes)
      }
      return outcomes
    },
  }
}

/** Returns the result of the first call of an answer; `undefined` when there is none, or an error. */
export function firstResult(answer: ProbeAnswer): unknown {
  const [outcome] = answer.kind === 'answered' ? answer.outcomes : []
  return outcome?.ok === true ? outcome.result : undefined
}

/** Returns what an answer says in place of a result; `undefined` when all of its calls have one. */
export function refusalIn(answer: ProbeAnswer, url: string): string | undefined {
  if (answer.kind !== 'answered') return answer.words
  const failed = answer.outcomes.find((outcome) => !outcome.ok)
  return failed === undefined || failed.ok ? undefined : quoted(failed.message, url)
}

/** Returns the message of an answer that is one JSON-RPC error; `undefined` for anything else. */
function errorMessageIn(text: string): string | undefined {
  try {
    const { error } = JSON.parse(text) as { readonly error?: { readonly message?: unknown } }
    return typeof error?.message === 'string' ? error.message : undefined
  } catch {
    return undefined
  }
}

/** Says whether, and after which pause, calls that were answered so are sent again. */
function repeatOf(answer: ProbeAnswer): { readonly isAgain: boolean; readonly retryMs: number } {
  if (answer.kind === 'refused') return { isAgain: answer.isRate, retryMs: answer.retryMs }
  return { isAgain: answer.kind === 'silent' && answer.isCut, retryMs: 0 }
}

function retryMsOf(header: string | null): number {
  return Math.min(retryAfterMs(header, Date.now()) ?? RETRY_MS, MAX_RETRY_MS)
}

function reasonOf(error: unknown): string {
  if (error instanceof AnswerTooLongError) return error.message
  if (error instanceof Error && error.name === 'TimeoutError') return `no answer in ${TIMEOUT_MS / 1_000} s`
  const cause = causeOf(error)
  const words = cause?.code ?? cause?.message
  return typeof words === 'string' ? words : 'no connection'
}

/** Codes of the ends of connections that were open. */
const CUT_CODES: ReadonlySet<unknown> = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'])

function causeOf(error: unknown): { readonly code?: unknown; readonly message?: unknown } | undefined {
  return (error as { readonly cause?: { readonly code?: unknown; readonly message?: unknown } }).cause
}

/** Length of time that a date header stands for: it has whole seconds. */
const DATE_STEP_MS = 1_000

/**
 * Reads a server's clock from the date of its answer, which was made at some moment between the two times of this
 * machine. What may be due to the way and to the whole seconds of the date counts as no difference.
 */
export function readClock(date: string | null, sentAtMs: number, receivedAtMs: number): ClockReading | undefined {
  const saidMs = date === null ? Number.NaN : Date.parse(date)
  if (Number.isNaN(saidMs)) return undefined
  if (sentAtMs > saidMs + DATE_STEP_MS) return { aheadMs: sentAtMs - saidMs - DATE_STEP_MS }
  return { aheadMs: Math.min(0, receivedAtMs - saidMs) }
}
