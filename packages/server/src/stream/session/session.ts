import {
  ApiError,
  CLOSE_CODES,
  type ClientMessage,
  CLIENT_MESSAGES,
  isLogChannel,
  MessageIdSchema,
  STREAM_CHANNELS,
} from '@bezel/protocol'
import type { Caller } from '../../access/caller.ts'
import type { ClientAuthMessage } from './streamAuth.ts'
import type { MessageLabel } from '../channel.ts'
import { authenticatedMessage, pongMessage } from './controlMessages.ts'
import type { SocketConnection } from '../socket/socketConnection.ts'
import type { Session } from '../socket/socketKind.ts'
import { createSubscriptions, type SubscriptionsOptions } from './subscriptions.ts'
import { TypeCompiler } from '@sinclair/typebox/compiler'
import { parseStrictJson, StrictJsonError, type JsonValue, stepText } from '../../json/parseStrictJson.ts'
import type { TObject, TSchema } from '@sinclair/typebox'
import { ValueErrorType, type ValueError } from '@sinclair/typebox/errors'

export interface SessionOptions extends SubscriptionsOptions {
  readonly connection: SocketConnection
  /** Authenticates the sender of the message. Throws an `ApiError`. */
  readonly authenticate: (message: ClientAuthMessage) => Promise<Caller>
  /** Returns the reason why a caller may no longer listen; `undefined` while it may. */
  readonly lapseOf: (caller: Caller) => ApiError | undefined
  readonly now: () => number
  /** Converts anything thrown into the error that the client is sent. */
  readonly toApiError: (error: unknown) => ApiError
}

interface Received {
  readonly message: ClientMessage | ApiError
  /** The parts of the message that its answer repeats. */
  readonly label: MessageLabel
  /**
   * Time at which the message is refused if it is still waiting, so that it does not hold up those behind it for
   * longer.
   */
  readonly untilMs: number
}

/** Processes messages one after the other, in the order in which they came. */
export function openSession(options: SessionOptions): Session {
  const { connection, bounds } = options
  const subscriptions = createSubscriptions(options)
  const waiting: Received[] = []
  let isBusy = false

  /** Processes one message. Returns a promise only when there is something to wait for. */
  function answer({ message, label, untilMs }: Received): void | Promise<void> {
    if (message instanceof ApiError) return connection.refuse(message, label)
    switch (message.op) {
      case 'ping':
        return connection.send(pongMessage(options.now(), label))
      case 'pong':
        return undefined
      case 'auth':
        return authenticate(message, untilMs)
      case 'subscribe':
        return subscriptions.subscribe(message, untilMs)
      case 'unsubscribe':
        return subscriptions.unsubscribe(message)
    }
  }

  function checkCaller(): void {
    const lapsed = connection.caller && options.lapseOf(connection.caller)
    if (lapsed !== undefined) connection.lapse(lapsed)
  }

  async function authenticate(message: ClientAuthMessage, untilMs: number): Promise<void> {
    checkCaller()
    if (connection.caller !== undefined) throw alreadyAuthenticated()
    if (options.clock() > untilMs) throw waitedTooLong()
    connection.caller = await options.authenticate(message)
    connection.send(authenticatedMessage(connection.caller, message))
  }

  function work(received: Received): void {
    try {
      const later = answer(received)
      if (later === undefined) return
      isBusy = true
      later.catch((error: unknown) => tell(error, received)).finally(workOn)
    } catch (error) {
      tell(error, received)
    }
  }

  function workOn(): void {
    isBusy = false
    while (!isBusy && connection.isOpen && waiting.length > 0) work(waiting.shift()!)
  }

  function tell(error: unknown, { label }: Received): void {
    connection.refuse(options.toApiError(error), label)
  }

  return {
    receive(bytes) {
      const message = parseClientMessage(bytes)
      const label = message instanceof ApiError ? labelIn(bytes) : message
      const received = { message, label, untilMs: options.clock() + bounds.maxWaitMs }
      if (!isBusy) work(received)
      else if (waiting.length < bounds.maxWaitingMessages) waiting.push(received)
      else connection.cut(CLOSE_CODES.rateLimited, tooManyWaiting(bounds.maxWaitingMessages))
    },
    checkCaller,
    lapse: () => subscriptions.closePrivate(),
    close() {
      waiting.length = 0
      subscriptions.closeAll()
    },
  }
}

function alreadyAuthenticated(): ApiError {
  return new ApiError('VALIDATION_ERROR', 'This socket is authenticated already; open another one for another account.')
}

function waitedTooLong(): ApiError {
  return new ApiError('NOT_READY', 'An earlier message took too long; try again in a moment.')
}

function tooManyWaiting(max: number): ApiError {
  return new ApiError('RATE_LIMITED', `More than ${max} messages wait for an earlier one.`)
}

const OPS = ['subscribe', 'unsubscribe', 'auth', 'ping', 'pong'] as const

type Op = (typeof OPS)[number]

type MessageName = keyof typeof CLIENT_MESSAGES

type JsonObject = { readonly [key: string]: JsonValue }

const NAMES = Object.keys(CLIENT_MESSAGES) as MessageName[]

const CHECKS = Object.fromEntries(NAMES.map((name) => [name, TypeCompiler.Compile(CLIENT_MESSAGES[name])]))

const ID_CHECK = TypeCompiler.Compile(MessageIdSchema)

/** Name of the whole message in error texts. */
const ROOT = 'message'

/** Parses a client message. Returns the error when it is not valid. */
export function parseClientMessage(bytes: Uint8Array): ClientMessage | ApiError {
  try {
    return checkMessage(parseStrictJson(bytes, ROOT))
  } catch (error) {
    if (error instanceof StrictJsonError) return new ApiError('VALIDATION_ERROR', error.message)
    if (error instanceof ApiError) return error
    throw error
  }
}

/** Returns what an invalid message says about itself, as far as that can be repeated. */
function labelIn(bytes: Uint8Array): MessageLabel {
  try {
    const value = parseStrictJson(bytes, ROOT)
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return {}
    const { id, channel } = value as JsonObject
    const known = STREAM_CHANNELS.find((candidate) => candidate === channel)
    return { ...(ID_CHECK.Check(id) ? { id } : {}), ...(known === undefined ? {} : { channel: known }) }
  } catch (error) {
    if (error instanceof StrictJsonError) return {}
    throw error
  }
}

/** Checks a message against the schema that its op and channel select, so that the error is about that schema alone. */
function checkMessage(value: JsonValue): ClientMessage {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw invalid('must be an object', '')
  const name = nameOf(value)
  const check = CHECKS[name]!
  if (check.Check(value)) return value as ClientMessage
  throw new ApiError('VALIDATION_ERROR', describeMismatch(CLIENT_MESSAGES[name], check.Errors(value).First(), ROOT))
}

function nameOf(value: JsonObject): MessageName {
  const op = choiceOf(value, 'op', OPS)
  if (op === 'auth') return 'apiKey' in value ? 'authKey' : 'authAgent'
  return op === 'ping' || op === 'pong' ? op : subscriptionNameOf(op, value)
}

function subscriptionNameOf(op: Exclude<Op, 'auth' | 'ping' | 'pong'>, value: JsonObject): MessageName {
  const channel = choiceOf(value, 'channel', STREAM_CHANNELS)
  if (isLogChannel(channel)) return `${op}Log`
  if (channel === 'prices') return `${op}Prices`
  return channel === 'candles' ? `${op}Candles` : `${op}Market`
}

function choiceOf<Choice extends string>(value: JsonObject, field: string, choices: readonly Choice[]): Choice {
  const given = Object.hasOwn(value, field) ? value[field] : undefined
  const choice = choices.find((candidate) => candidate === given)
  if (choice !== undefined) return choice
  const allowed = choices.map((candidate) => JSON.stringify(candidate)).join(', ')
  throw invalid(given === undefined ? `is missing; it is one of ${allowed}` : `must be one of ${allowed}`, `.${field}`)
}

function invalid(predicate: string, path: string): ApiError {
  return new ApiError('VALIDATION_ERROR', `${ROOT}${path} ${predicate}.`)
}

/** Describes a schema mismatch in a sentence that names the field and its allowed values. */
function describeMismatch(schema: TObject, error: ValueError | undefined, root: string): string {
  if (error === undefined) return `${root} is not valid.`
  const path = root + error.path.split('/').slice(1).map(unescapePointer).map(stepText).join('')
  if (error.type === ValueErrorType.ObjectAdditionalProperties) {
    return `${path} is not known; the fields are ${Object.keys(schema.properties).join(', ')}.`
  }
  if (error.type === ValueErrorType.ObjectRequiredProperty)
    return `${path} is missing; it is ${allowedText(error.schema)}.`
  return `${path} must be ${allowedText(error.schema)}.`
}

function allowedText({ anyOf, type, pattern, minimum, maximum, minLength, maxLength, const: only }: TSchema): string {
  if (Array.isArray(anyOf) && anyOf[0]?.const === undefined) return anyOf.map(allowedText).join(' or ')
  if (Array.isArray(anyOf)) return `one of ${anyOf.map((choice: TSchema) => JSON.stringify(choice.const)).join(', ')}`
  if (only !== undefined) return JSON.stringify(only)
  if (pattern !== undefined) return `a string that matches ${pattern}`
  if (type === 'integer') return `an integer from ${minimum} to ${maximum}`
  return `a string of ${minLength} to ${maxLength} characters`
}

/** Unescapes a step of a JSON pointer (RFC 6901). */
function unescapePointer(step: string): string {
  return step.replaceAll('~1', '/').replaceAll('~0', '~')
}
