import type { JsonObject } from './facadeMessage.ts'

// What the service says on a socket of the facade.

export const PONG_TEXT = '{"channel":"pong"}'

/** `data` is JSON. */
export function channelText(channel: string, data: string): string {
  return `{"channel":"${channel}","data":${data}}`
}

/** Repeats every key of what was asked for: that is how a client finds out what was answered. */
export function subscriptionText(method: 'subscribe' | 'unsubscribe', subscription: JsonObject): string {
  return channelText('subscriptionResponse', JSON.stringify({ method, subscription }))
}

export function errorText(message: string): string {
  return channelText('error', JSON.stringify(message))
}

/** `payload` is JSON. */
export function postText(id: number, type: 'action' | 'info' | 'error', payload: string): string {
  return `{"channel":"post","data":{"id":${id},"response":{"type":"${type}","payload":${payload}}}}`
}

/** Of a message that can't be read: the beginning is enough to know it again. */
const MAX_QUOTED_CHARS = 4_096

export function malformedText(bytes: Uint8Array): string {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8').slice(0, MAX_QUOTED_CHARS)
  return errorText(`Error parsing JSON into valid websocket request: ${text}`)
}
