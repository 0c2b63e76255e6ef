import type { AuthMessage } from '../signing/authMessage.ts'
import { createAsked, type AskedSubscription } from './asked.ts'
import type { BackOffOptions } from './backOff.ts'
import type { Kept } from './kept.ts'
import { isLogChannel } from './logChannels.ts'
import { createQuestions } from './questions.ts'
import { createRetries } from './retries.ts'
import { isPassing, streamError } from './streamError.ts'
import type { StreamEvent } from './streamEvents.ts'
import type { ControlMessage } from './streamMessages.ts'
import { createTalkAuth } from './talkAuth.ts'

/** The talk over one socket that has been greeted. */
export interface Talk {
  subscribe(kept: Kept): void
  unsubscribe(kept: Kept): void
  hear(message: Exclude<ControlMessage, { op: 'hello' }>): void
  receive(event: StreamEvent): void
  /** That a limit was reached, if so: then the service closes the socket. */
  readonly complaint: string | undefined
  close(): void
}

export interface TalkOptions {
  readonly send: (message: object) => void
  /** A new one each time; `undefined` without credentials. */
  readonly authenticate: (() => Promise<AuthMessage>) | undefined
  readonly backOff: BackOffOptions
  /** The service works as it should. */
  readonly onSubscribed: () => void
}

/** Errors of the service name no subscription, so each is of the question that was asked first. */
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

  function hearError(code: string, text: string): void {
    const error = streamError(code, text)
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

  /** The credentials were good and are no longer: the service has ended what needs them. */
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
      else if (message.op === 'error') hearError(message.code, message.message)
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
