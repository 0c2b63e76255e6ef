import type { ApiRefusal } from '../errors/serviceErrors.ts'
import type { AuthMessage } from '../signing/signRequest.ts'
import { type BackOffOptions, createBackOff } from './backOff.ts'
import { isLogChannel } from '@bezel/protocol/wire'
import { topicKey, type Kept, type StreamTopic } from './topic.ts'
import { isPassing, streamError } from './streamError.ts'
import type { StreamEvent } from './streamEvents.ts'
import { createTalkAuth } from './talkAuth.ts'

/** A message of the service that is no event. */
type ControlMessage =
  | { readonly op: 'hello'; readonly heartbeatMs: number }
  | { readonly op: 'ping'; readonly timestamp: number }
  | { readonly op: 'pong' | 'authenticated' }
  | ({ readonly op: 'subscribed' | 'unsubscribed' } & StreamTopic)
  | ({ readonly op: 'error' } & Pick<ApiRefusal, 'code' | 'message' | 'details'>)

/** A message of the service. */
export type ServerMessage = ControlMessage | (StreamEvent & { readonly op?: undefined })

/** The conversation over one socket, after the greeting. */
export interface Talk {
  subscribe(kept: Kept): void
  unsubscribe(kept: Kept): void
  hear(message: Exclude<ControlMessage, { op: 'hello' }>): void
  receive(event: StreamEvent): void
  /** The limit that was reached, if any. The service closes the socket after it. */
  readonly complaint: string | undefined
  close(): void
}

export interface TalkOptions {
  /** URL of the socket. */
  readonly url: string
  readonly send: (message: object) => void
  /** Creates an `auth` message; `undefined` without credentials. */
  readonly authenticate: (() => Promise<AuthMessage>) | undefined
  readonly backOff: BackOffOptions
  /** Called when a subscription was confirmed, so the service works. */
  readonly onSubscribed: () => void
}

/**
 * Messages sent per second. The service disconnects clients that send more than 20 in a second, and a network can
 * deliver two seconds' worth in one.
 */
const MESSAGES_PER_SECOND = 10

/** Starts the conversation. Errors name no subscription, so each belongs to the oldest unanswered question. */
export function openTalk(options: TalkOptions): Talk {
  const asked = createAsked()
  const questions = createQuestions<AskedSubscription | 'unsubscribe' | 'auth'>(options.send)
  const retries = createRetries(options.backOff)
  const auth = createTalkAuth({
    authenticate: options.authenticate,
    ask: (message) => questions.ask('auth', () => message),
    later: retries.later,
    onProven: (waiting) => waiting.forEach(askSubscription),
  })
  let complaint: string | undefined

  function subscribe(kept: Kept): void {
    if (isLogChannel(kept.topic.channel) && !auth.isProven) auth.wait(kept)
    else askSubscription(kept)
  }

  function askSubscription(kept: Kept): void {
    questions.ask(asked.add(kept), () => {
      const fromSeq = kept.fromSeq()
      return { op: 'subscribe', ...kept.topic, ...(fromSeq === undefined ? {} : { fromSeq }) }
    })
  }

  function hearAnswer(): void {
    const question = questions.answered()
    if (question === 'auth') return auth.proven()
    if (typeof question !== 'object') return
    question.isAnswered = true
    retries.reset()
    options.onSubscribed()
  }

  function hearError(refusal: Pick<ApiRefusal, 'code' | 'message' | 'details'>): void {
    const { code, message: text } = refusal
    const error = streamError(refusal, options.url)
    if (code === 'RATE_LIMITED') complaint = `${code}: ${text}`
    if (questions.first !== 'auth' && auth.isAboutCredentials(code)) return lose(error)
    const question = questions.answered()
    if (question === 'auth') return auth.refused(error)
    if (typeof question !== 'object' || !asked.isWanted(question)) return
    if (!isPassing(error)) return question.kept.fail(error)
    retries.later(() => {
      if (asked.isWanted(question)) subscribe(question.kept)
    })
  }

  /** Ends the private subscriptions after the credentials were revoked: the service has ended them already. */
  function lose(error: unknown): void {
    auth.lost()
    asked.failPrivate(error)
  }

  return {
    subscribe,
    unsubscribe(kept) {
      auth.forget(kept)
      if (asked.remove(kept)) questions.ask('unsubscribe', () => ({ op: 'unsubscribe', ...kept.topic }))
    },
    hear(message) {
      if (message.op === 'ping') options.send({ op: 'pong', timestamp: message.timestamp })
      else if (message.op === 'error') hearError(message)
      else if (message.op !== 'pong') hearAnswer()
    },
    receive: (event) => asked.receive(event),
    get complaint() {
      return complaint
    },
    close() {
      questions.close()
      retries.close()
      auth.close()
    },
  }
}

/** A subscription that was requested on one socket. */
interface AskedSubscription {
  readonly kept: Kept
  /** True once the request was answered. Earlier events belong to a previous subscription of the same topic. */
  isAnswered: boolean
}

/** The requested subscriptions of one socket. */
interface Asked {
  add(kept: Kept): AskedSubscription
  /** Removes a subscription and returns true when there was one. */
  remove(kept: Kept): boolean
  /** Returns true unless the subscription was ended or replaced meanwhile. */
  isWanted(asked: AskedSubscription): boolean
  receive(event: StreamEvent): void
  failPrivate(error: unknown): void
}

function createAsked(): Asked {
  const byKey = new Map<string, AskedSubscription>()
  return {
    add(kept) {
      const asked = { kept, isAnswered: false }
      byKey.set(topicKey(kept.topic), asked)
      return asked
    },
    remove(kept) {
      const key = topicKey(kept.topic)
      return byKey.get(key)?.kept === kept && byKey.delete(key)
    },
    isWanted: (asked) => byKey.get(topicKey(asked.kept.topic)) === asked,
    receive(event) {
      const asked = byKey.get(topicKey(event))
      if (asked?.isAnswered === true) asked.kept.receive(event)
    },
    failPrivate(error) {
      for (const { kept } of byKey.values()) if (isLogChannel(kept.topic.channel)) kept.fail(error)
    },
  }
}

/** The questions of one socket that are not answered yet. The service answers in order. */
interface Questions<Question> {
  /** Asks a question. `message` is made when it is sent, which may be a moment later. */
  ask(question: Question, message: () => object): void
  /** The question that is answered next. */
  readonly first: Question | undefined
  /** Removes the first question, because its answer has come. */
  answered(): Question | undefined
  close(): void
}

function createQuestions<Question>(send: (message: object) => void): Questions<Question> {
  const pacer = createPacer(MESSAGES_PER_SECOND)
  const waiting: Question[] = []
  return {
    ask: (question, message) =>
      pacer.run(() => {
        waiting.push(question)
        send(message())
      }),
    get first() {
      return waiting[0]
    },
    answered: () => waiting.shift(),
    close: () => pacer.close(),
  }
}

/** Retries on the same socket, with growing pauses. */
interface Retries {
  later(action: () => void): void
  /** Starts again with the shortest pause, after a success. */
  reset(): void
  close(): void
}

function createRetries(options: BackOffOptions): Retries {
  const backOff = createBackOff(options)
  const timers = new Set<ReturnType<typeof setTimeout>>()
  return {
    later(action) {
      const timer = setTimeout(() => {
        timers.delete(timer)
        action()
      }, backOff.nextMs())
      timers.add(timer)
    },
    reset: () => backOff.reset(),
    close: () => timers.forEach((timer) => clearTimeout(timer)),
  }
}

const SECOND_MS = 1_000

/** A rate limiter that keeps the order: the rest of a burst runs a moment later. */
interface Pacer {
  run(action: () => void): void
  /** Drops the actions that wait. */
  close(): void
}

/** Creates a rate limiter for `perSecond` actions in any second. */
export function createPacer(perSecond: number, now: () => number = () => performance.now()): Pacer {
  /** Times of the last actions, oldest first; never more than `perSecond`. */
  const recentMs: number[] = []
  const waiting: (() => void)[] = []
  let timer: ReturnType<typeof setTimeout> | undefined

  function waitMs(): number {
    return recentMs.length < perSecond ? 0 : recentMs[0]! + SECOND_MS - now()
  }

  function work(): void {
    timer = undefined
    while (waiting.length > 0 && waitMs() <= 0) {
      if (recentMs.length >= perSecond) recentMs.shift()
      recentMs.push(now())
      waiting.shift()!()
    }
    if (waiting.length > 0) timer = setTimeout(work, Math.max(0, Math.ceil(waitMs())))
  }

  return {
    run(action) {
      waiting.push(action)
      if (timer === undefined) work()
    },
    close() {
      waiting.length = 0
      clearTimeout(timer)
      timer = undefined
    },
  }
}
