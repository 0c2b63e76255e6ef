import { setTimeout as sleep } from 'node:timers/promises'
import { AnswerTooLongError, boundedText } from '../../ground/boundedText.ts'
import { inSpan } from '../../ground/spans.ts'
import { backoffMs } from '../../ground/backoff.ts'
import {
  CALLS_PER_BATCH,
  chainIdCall,
  parseRpcAnswer,
  type RpcCall,
  type RpcClient,
  type RpcOutcome,
} from '../rpcClient.ts'
import type { ProviderSettings } from '../servedChain.ts'
import { createLearntLimit } from './learntLimit.ts'
import {
  isLimited,
  ProviderError,
  QueueFullError,
  refusesBatch,
  refusesBatchInside,
  refusesRate,
  retryAfterMs,
} from './refusals.ts'
import { createUnitBudget, unitsOf, type Asker } from './unitBudget.ts'

/** One provider of a chain. Splits batches by its limits, and repeats what it refused because of them. */
export interface Provider {
  /**
   * Sends all calls to this provider, and returns the outcomes in their order. Calls of a write are a writer's, whoever
   * asks; a reader, which is the default, is refused at once while too much waits. Throws `ProviderError`.
   */
  send(calls: readonly RpcCall[], asker?: Asker): Promise<RpcOutcome[]>
  counts(): ProviderCounts
  /** Returns the limits that hold now, as settings or as learnt. */
  limits(): { readonly batch: number; readonly unitsPerSecond: number | undefined }
}

export interface ProviderCounts {
  /** Number of requests sent. */
  readonly roundTrips: number
  /** Number of calls sent, as a provider bills them. */
  readonly calls: number
  /** Number of times that the provider refused a batch, a call or a request because of a limit. */
  readonly refusals: number
}

export interface ProviderOptions extends ProviderSettings {
  /** Time limit of a round trip, to which each call adds `CALL_MS`. */
  readonly timeoutMs: number
  /** Id of the chain that the provider must be on. Left out: no check. */
  readonly chainId?: number
  /** The most bytes of one answer; a longer one is cut off. */
  readonly maxAnswerBytes?: number
  /** A clock in milliseconds that never goes back. Default `performance.now`. */
  readonly now?: () => number
  readonly random?: () => number
}

/**
 * Time that a node may take for each call of a batch. With one limit for all batches a node that is too slow for the
 * large ones, such as those of the listing, would be asked for them again and again, and a start would never end.
 */
const CALL_MS = 100

/** Far above every answer of a live node. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024

/** Number of times that calls which were refused because of a rate are asked for again. */
const MAX_REPEATS = 4

/**
 * Number of times that a request is sent again which was refused because of a rate. Few, because somebody waits for it,
 * and another provider may answer.
 */
const MAX_REQUEST_REPEATS = 2

/** The longest wait for a provider that is asked too often, before the batch fails. */
const MAX_WAIT_MS = 1_000

/** The longest queue for a provider's units that a read joins: whoever asks would have gone before it is served. */
const MAX_QUEUE_MS = 5_000

/**
 * Time for which a provider that answered with the right chain is believed to stay on it. An address can lead to
 * another node at any moment: what is simulated for a write is always checked.
 */
const CHAIN_CHECK_MS = 30_000

export function createProvider(options: ProviderOptions): Provider {
  const { now = () => performance.now(), random = Math.random } = options
  const batchLimit = createLearntLimit({ max: options.batch ?? CALLS_PER_BATCH, now })
  const budget = createUnitBudget({ unitsPerSecond: options.unitsPerSecond, now })
  const counts = { roundTrips: 0, calls: 0, refusals: 0 }
  const sendPart = createSendPart({ ...options, now }, async (calls, asker) => {
    const units = calls.reduce((sum, call) => sum + unitsOf(call), 0)
    await budget.take(units, asker)
    counts.roundTrips += 1
    counts.calls += calls.length
  })

  /** Sends as many of the calls as one batch takes, fewer after each refusal. Returns what came of those. */
  async function sendFirst(calls: readonly RpcCall[], asker: Asker): ReturnType<SendPart> {
    for (;;) {
      const part = calls.slice(0, partSize(calls, batchLimit.current(), budget.rate()))
      try {
        return await sendPart(part, asker)
      } catch (error) {
        if (!(error instanceof BatchRefusedError) || part.length === 1) throw error
        counts.refusals += 1
        batchLimit.refused(part.length)
      }
    }
  }

  async function send(calls: readonly RpcCall[], by: Asker = 'reader'): Promise<RpcOutcome[]> {
    const outcomes = new Map<number, RpcOutcome>()
    const asker = calls.some(isOfWrite) ? 'writer' : by
    if (asker === 'reader') refuseLongQueue(budget.waitMs())
    let waiting = [...calls.keys()]
    for (let repeats = 0; waiting.length > 0; repeats += 1) {
      if (repeats > 0) {
        counts.refusals += 1
        if (repeats > MAX_REPEATS) throw limited()
        await sleep(Math.min(MAX_WAIT_MS, backoffMs(repeats - 1, random())))
      }
      const again: number[] = []
      while (waiting.length > 0) {
        const left = waiting.map((at) => calls[at]!)
        const answers = await whenAllowed(() => sendFirst(left, asker))
        for (const [i, answer] of answers.entries()) {
          if (answer === undefined && repeats > 0) throw unanswered()
          if (answer === undefined || isLimited(answer)) again.push(waiting[i]!)
          else outcomes.set(waiting[i]!, answer)
        }
        if (answers.some((answer) => answer !== undefined && isLimited(answer))) budget.refused()
        waiting = waiting.slice(answers.length)
      }
      waiting = again
    }
    return [...calls.keys()].map((at) => outcomes.get(at)!)
  }

  /** Repeats a request that was refused because the provider is asked too often, as long as that may help soon. */
  async function whenAllowed<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
    for (let repeats = 0; ; repeats += 1) {
      try {
        return await ask()
      } catch (error) {
        if (!(error instanceof ProviderError) || error.fault !== 'limited') throw error
        counts.refusals += 1
        budget.refused()
        const waitMs = error.retryAfterMs ?? backoffMs(repeats, random())
        if (repeats >= MAX_REQUEST_REPEATS || waitMs > MAX_WAIT_MS) throw error
        await sleep(waitMs)
      }
    }
  }

  return {
    send,
    counts: () => ({ ...counts }),
    limits: () => ({ batch: batchLimit.current(), unitsPerSecond: budget.rate() }),
  }
}

/** Sends calls in one round trip. Where an answer is missing there is a hole. */
type SendPart = (calls: readonly RpcCall[], asker: Asker) => Promise<(RpcOutcome | undefined)[]>

/** Makes the function that sends one part of a batch, with the check of the chain where it is due. */
function createSendPart(
  options: ProviderOptions & { readonly now: () => number },
  onSend: (calls: readonly RpcCall[], asker: Asker) => Promise<void>,
): SendPart {
  const { chainId, now } = options
  const post = createPost(options)
  let checkedAtMs = Number.NEGATIVE_INFINITY

  async function sendChecked(calls: readonly RpcCall[], asker: Asker, expected: number): ReturnType<SendPart> {
    const asked = [...calls, chainIdCall]
    await onSend(asked, asker)
    const outcomes = await post(asked)
    const answer = outcomes.pop()
    // A refusal of this call alone says nothing about the chain: what must not go unchecked is sent again.
    if (answer !== undefined && isLimited(answer)) return calls.some(hasSender) ? calls.map(() => answer) : outcomes
    requireChain(answer, expected)
    checkedAtMs = now()
    return outcomes
  }

  return async (calls, asker) => {
    const isDue = now() - checkedAtMs >= CHAIN_CHECK_MS || calls.some(hasSender)
    try {
      if (chainId !== undefined && isDue) return await sendChecked(calls, asker, chainId)
      await onSend(calls, asker)
      return await post(calls)
    } catch (error) {
      checkedAtMs = Number.NEGATIVE_INFINITY
      throw error
    }
  }
}

/** Makes a client of a single provider, without a second one to fall back on. */
export function createRpcClient(options: ProviderOptions): RpcClient {
  const { send, counts } = createProvider(options)
  return { batch: (calls) => send(calls), roundTrips: () => counts().roundTrips }
}

/** Returns true for a simulation of a write: a call that names its sender. */
export function hasSender({ params }: RpcCall): boolean {
  const [request] = params
  return typeof request === 'object' && request !== null && 'from' in request
}

/** Returns true for a call of which somebody who writes waits for the answer. */
function isOfWrite(call: RpcCall): boolean {
  return hasSender(call) || call.method === 'eth_sendRawTransaction'
}

/** Returns how many of the calls go into one batch: a second's worth of units at most, and at least one call. */
function partSize(calls: readonly RpcCall[], maxCalls: number, maxUnits: number | undefined): number {
  if (maxUnits === undefined) return Math.min(calls.length, maxCalls)
  let units = 0
  const end = calls.findIndex((call, at) => at >= maxCalls || ((units += unitsOf(call)) > maxUnits && at > 0))
  return end === -1 ? calls.length : end
}

/** Thrown when a provider refuses a batch because of its size. */
class BatchRefusedError extends ProviderError {}

function batchRefused(calls: number, said: string): BatchRefusedError {
  return new BatchRefusedError('away', `the node refused a batch of ${calls} calls: ${said}`)
}

function refuseLongQueue(waitMs: number): void {
  if (waitMs <= MAX_QUEUE_MS) return
  throw new QueueFullError('limited', 'too many calls wait for the node already', { retryAfterMs: waitMs })
}

function limited(): ProviderError {
  return new ProviderError('limited', 'the node refused calls again and again, because it is asked too often')
}

function unanswered(): ProviderError {
  return new ProviderError('away', 'the node left a call of the batch unanswered')
}

function requireChain(outcome: RpcOutcome | undefined, chainId: number): void {
  if (outcome?.ok === true && outcome.result === `0x${chainId.toString(16)}`) return
  const said = outcome?.ok === true && typeof outcome.result === 'string' ? outcome.result.slice(0, 20) : undefined
  throw new ProviderError(
    'wrong_chain',
    said === undefined
      ? 'the node does not say on which chain it is'
      : `the node is on another chain: it answers ${said}, not 0x${chainId.toString(16)}`,
  )
}

/** Sends calls as one HTTP request. Where an answer is missing there is a hole. */
type Post = (calls: readonly RpcCall[]) => Promise<(RpcOutcome | undefined)[]>

function createPost({ url, timeoutMs, maxAnswerBytes = MAX_ANSWER_BYTES }: ProviderOptions): Post {
  const { address, headers } = addressOf(url)

  async function exchange(body: string, waitMs: number): Promise<{ readonly answer: Response; readonly text: string }> {
    try {
      const answer = await fetch(address, { method: 'POST', headers, body, signal: AbortSignal.timeout(waitMs) })
      return { answer, text: await boundedText(answer, maxAnswerBytes) }
    } catch (error) {
      throw new ProviderError('away', reasonOf(error, waitMs), { cause: error })
    }
  }

  const { hostname } = new URL(address)

  async function post(calls: readonly RpcCall[]): ReturnType<Post> {
    const body = JSON.stringify(calls.map(({ method, params }, id) => ({ jsonrpc: '2.0', id, method, params })))
    const { answer, text } = await exchange(body, timeoutMs + calls.length * CALL_MS)
    const said = `HTTP ${answer.status}: ${text.slice(0, 200)}`
    if (answer.ok && text.trimStart().startsWith('[')) {
      const outcomes = parseRpcAnswer(text, calls.length)
      if (refusesBatchInside(outcomes)) throw batchRefused(calls.length, said)
      return outcomes
    }
    if (refusesRate(answer.status, text)) {
      throw new ProviderError('limited', `the node is asked too often: ${said}`, {
        retryAfterMs: retryAfterMs(answer.headers.get('retry-after'), Date.now()),
      })
    }
    if (refusesBatch(answer.status, text)) throw batchRefused(calls.length, said)
    throw new ProviderError('away', `the node refused the batch: ${said}`)
  }

  return (calls) => inSpan('rpc', { 'bezel.provider': hostname, 'bezel.calls': calls.length }, () => post(calls))
}

/** Splits a password off the address of a node, which `fetch` refuses, and sends it as a header. */
export function addressOf(url: string): { readonly address: string; readonly headers: Record<string, string> } {
  const address = new URL(url)
  const headers: Record<string, string> = { 'content-type': 'application/json' }
  if (address.username !== '' || address.password !== '') {
    const credentials = `${decodeURIComponent(address.username)}:${decodeURIComponent(address.password)}`
    headers['authorization'] = `Basic ${Buffer.from(credentials).toString('base64')}`
    address.username = ''
    address.password = ''
  }
  return { address: address.href, headers }
}

function reasonOf(error: unknown, waitMs: number): string {
  if (error instanceof AnswerTooLongError) return `the node was cut off: ${error.message}`
  const isLate = error instanceof DOMException && error.name === 'TimeoutError'
  return isLate ? `the node did not answer within ${waitMs} ms` : 'the node did not answer'
}
