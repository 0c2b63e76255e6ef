import { channelText } from './channels/facadeChannel.ts'
import { parseStrictJson, StrictJsonError, type JsonValue } from '../../json/parseStrictJson.ts'

export const PONG_TEXT = '{"channel":"pong"}'

/** Length of the quote of a message that can't be parsed: enough for its sender to recognize it. */
const MAX_QUOTED_CHARS = 4_096

export type JsonObject = { readonly [key: string]: JsonValue }

/** A message of a client. */
type FacadeMessage =
  | { readonly method: 'ping' }
  | { readonly method: 'subscribe' | 'unsubscribe'; readonly subscription: JsonObject }
  | { readonly method: 'post'; readonly id: number; readonly request: JsonObject }

/**
 * Parses a message of a client; `undefined` when it is not one. Other fields are ignored, because clients add their
 * own.
 */
export function parseFacadeMessage(bytes: Uint8Array): FacadeMessage | undefined {
  const message = objectOf(parsed(bytes))
  switch (message?.method) {
    case 'ping':
      return { method: 'ping' }
    case 'subscribe':
    case 'unsubscribe':
      return subscriptionOf(message.method, objectOf(message.subscription))
    case 'post':
      return postOf(message.id, objectOf(message.request))
    default:
      return undefined
  }
}

function parsed(bytes: Uint8Array): JsonValue | undefined {
  try {
    return parseStrictJson(bytes, 'message')
  } catch (error) {
    if (error instanceof StrictJsonError) return undefined
    throw error
  }
}

function subscriptionOf(
  method: 'subscribe' | 'unsubscribe',
  subscription: JsonObject | undefined,
): FacadeMessage | undefined {
  return subscription && { method, subscription }
}

function postOf(id: JsonValue | undefined, request: JsonObject | undefined): FacadeMessage | undefined {
  if (typeof id !== 'number' || !Number.isSafeInteger(id) || id < 0) return undefined
  return request && { method: 'post', id, request }
}

function objectOf(value: JsonValue | undefined): JsonObject | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined
}

/** Acknowledges a subscription. Repeats every key that the client sent, by which it finds the subscription meant. */
export function subscriptionText(method: 'subscribe' | 'unsubscribe', subscription: JsonObject): string {
  return channelText('subscriptionResponse', JSON.stringify({ method, subscription }))
}

export function errorText(message: string): string {
  return channelText('error', JSON.stringify(message))
}

/** Returns the answer to a post. `payload` is JSON. */
export function postText(id: number, type: 'action' | 'info' | 'error', payload: string): string {
  return `{"channel":"post","data":{"id":${id},"response":{"type":"${type}","payload":${payload}}}}`
}

export function malformedText(bytes: Uint8Array): string {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8').slice(0, MAX_QUOTED_CHARS)
  return errorText(`Error parsing JSON into valid websocket request: ${text}`)
}
