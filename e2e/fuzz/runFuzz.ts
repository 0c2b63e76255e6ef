import { setTimeout as sleep } from 'node:timers/promises'
import type { Broadcasts, SendableTransaction } from './broadcasts.ts'
import { curlOf } from './curl.ts'
import type { FuzzRequest } from './dressRequest.ts'
import type { Judge, Verdict } from './judge.ts'
import type { Knowledge } from './knowledge.ts'
import { createRandom } from './random.ts'
import { rawRequest } from './rawRequests.ts'
import type { RequestMaker } from './requests.ts'
import type { RawAnswer, Transport } from './transport.ts'

/** The result of a fuzz. */
export interface FuzzResult {
  /** The failures, each with the whole request. */
  readonly failures: readonly string[]
  /** Answers by operation and status. */
  readonly answers: ReadonlyMap<string, ReadonlyMap<number, number>>
  readonly codes: ReadonlyMap<string, number>
  /** The number of answers with status 502 or 503. */
  readonly unavailable: number
  readonly elapsedMs: number
}

export interface FuzzOptions {
  readonly seed: number
  readonly requests: number
  readonly inFlight: number
  readonly url: string
  readonly maker: RequestMaker
  readonly transport: Transport
  readonly judge: Judge
  readonly knowledge: Knowledge
  readonly broadcasts: Broadcasts
  /** Called with the number of answers so far. */
  readonly onProgress: (answered: number) => void
}

const MAX_FAILURES = 20
const RECOVERY_MS = 300_000
const READY_POLL_MS = 250
const RAW_CHANCE = 0.01
const BROADCAST_CHANCE = 0.6
/** Size from which a body that is refused unread may break the connection before the refusal is read. */
const UNREAD_BODY_BYTES = 64 * 1024
const BROKEN_CONNECTION: ReadonlySet<string | undefined> = new Set(['EPIPE', 'ECONNRESET'])

/** Sends the requests, several at a time, and checks every answer. Stops early when something is clearly wrong. */
export async function runFuzz(options: FuzzOptions): Promise<FuzzResult> {
  const failures: string[] = []
  const answers = new Map<string, Map<number, number>>()
  const codes = new Map<string, number>()
  let [next, answered, unavailable] = [0, 0, 0]
  let recovery: Promise<void> | undefined
  const startMs = Date.now()

  function count(name: string, { status }: RawAnswer, body: unknown): void {
    const byStatus = answers.get(name) ?? new Map<number, number>()
    answers.set(name, byStatus.set(status, (byStatus.get(status) ?? 0) + 1))
    const { code, details } = (body ?? {}) as { code?: unknown; details?: { reason?: unknown } }
    const shown = code === 'NOT_READY' ? `${code} (${String(details?.reason)})` : code
    if (typeof shown === 'string') codes.set(shown, (codes.get(shown) ?? 0) + 1)
    if (status !== 502 && status !== 503) return
    unavailable += 1
    recovery ??= recover()
  }

  async function recover(): Promise<void> {
    if (!(await untilReady(options))) failures.push('the service did not become ready again')
    recovery = undefined
  }

  function fail(request: FuzzRequest, problems: readonly string[], answer: RawAnswer | undefined): void {
    const shown = answer === undefined ? '' : `\n  ${answer.status} ${answer.body.slice(0, 1_000)}`
    failures.push(`#${request.index} ${request.how}: ${problems.join('; ')}${shown}\n  ${curlOf(options.url, request)}`)
  }

  async function askOne(index: number): Promise<void> {
    const request = options.maker.make(index)
    let answer: RawAnswer | undefined
    try {
      answer = await options.transport.send(request)
    } catch (error) {
      const isUnread = BROKEN_CONNECTION.has((error as NodeJS.ErrnoException).code)
      if (isUnread && (request.body?.length ?? 0) > UNREAD_BODY_BYTES) return
      return fail(request, [`no answer: ${String(error)}`], undefined)
    }
    const verdict = options.judge.judge(request, answer)
    count(verdict.operation?.id ?? 'none', answer, verdict.body)
    if (verdict.problems.length > 0) fail(request, verdict.problems, answer)
    if (answer.status < 300) goOn(options, request, verdict)
  }

  async function askRaw(index: number): Promise<void> {
    const { how, bytes } = rawRequest(createRandom(options.seed, index))
    const answer = await options.transport.sendBytes(bytes)
    const problems =
      answer === undefined ? ['the connection was closed without a word'] : options.judge.judgeError(answer)
    if (answer !== undefined) count('bytes', answer, undefined)
    if (problems.length === 0) return
    const command = `base64 -d <<< ${Buffer.from(bytes).toString('base64').slice(0, 2_000)} | nc ${new URL(options.url).host}`
    failures.push(
      `#${index} ${how}: ${problems.join('; ')}\n  ${answer?.status} ${answer?.body.slice(0, 500)}\n  ${command}`,
    )
  }

  async function work(): Promise<void> {
    while (next < options.requests && failures.length < MAX_FAILURES) {
      // Waits as a client that heeds Retry-After does, while the service says that it is not ready.
      await recovery
      const index = next
      next += 1
      // A random stream of its own, so that the choice of raw requests does not depend on answers.
      await (createRandom(options.seed, -1 - index).chance(RAW_CHANCE) ? askRaw(index) : askOne(index))
      answered += 1
      options.onProgress(answered)
    }
  }

  await Promise.all(Array.from({ length: options.inFlight }, work))
  return { failures, answers, codes, unavailable, elapsedMs: Date.now() - startMs }
}

/** Polls until the service is ready; `false` when it is not in time. */
async function untilReady({ transport }: FuzzOptions): Promise<boolean> {
  const ask = { method: 'GET', target: '/ready', headers: [], body: undefined }
  for (const endMs = Date.now() + RECOVERY_MS; Date.now() < endMs; await sleep(READY_POLL_MS)) {
    if ((await transport.send(ask)).status === 200) return true
  }
  return false
}

type Named = { readonly id: string }

/** Learns from a successful answer, and sends some prepared transactions to the chain. */
function goOn({ seed, maker, knowledge, broadcasts }: FuzzOptions, request: FuzzRequest, verdict: Verdict): void {
  const { operation, body } = verdict
  if (operation === undefined || body === undefined) return
  knowledge.learn(operation.id, body)
  const { clientId } = (request.value ?? {}) as { clientId?: unknown }
  if (operation.id === 'createOrder' && clientId !== undefined) {
    knowledge.learnNamedOrder(request.value as Readonly<Record<string, unknown>>)
  }
  const {
    orders = [],
    order = orders[0],
    transaction,
  } = (body ?? {}) as { order?: Named; orders?: Named[]; transaction?: SendableTransaction | null }
  const random = createRandom(seed ^ 0x5f5f5f5f, request.index)
  if (transaction === undefined || transaction === null || !random.chance(BROADCAST_CHANCE)) return
  broadcasts.offer(request.actor, transaction, random, (hash) => {
    knowledge.learnHash(hash)
    if (order !== undefined && random.chance(0.6)) maker.report(request.actor, order.id, hash)
  })
}
