import { ApiError, CLIENT_MESSAGES, isLogChannel, STREAM_CHANNELS, type ClientMessage } from '@bezel/protocol'
import { TypeCompiler } from '@sinclair/typebox/compiler'
import { parseStrictJson, StrictJsonError, type JsonValue } from '../../json/parseStrictJson.ts'
import { describeMismatch } from './describeMismatch.ts'

const OPS = ['subscribe', 'unsubscribe', 'auth', 'ping', 'pong'] as const
type Op = (typeof OPS)[number]
type MessageName = keyof typeof CLIENT_MESSAGES
type JsonObject = { readonly [key: string]: JsonValue }

const NAMES = Object.keys(CLIENT_MESSAGES) as MessageName[]
const CHECKS = Object.fromEntries(NAMES.map((name) => [name, TypeCompiler.Compile(CLIENT_MESSAGES[name])]))

/** What the whole message is called in what we say of it. */
const ROOT = 'message'

/** What a client said, or why it can't be understood. */
export function parseClientMessage(bytes: Uint8Array): ClientMessage | ApiError {
  try {
    return checkMessage(parseStrictJson(bytes, ROOT))
  } catch (error) {
    if (error instanceof StrictJsonError) return new ApiError('VALIDATION_ERROR', error.message)
    if (error instanceof ApiError) return error
    throw error
  }
}

/** The op and the channel say which message is meant, so that what is wrong is told of that one alone. */
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
