import type { ApiError, CandleInterval, ChainSlug, StreamChannel } from '@bezel/protocol'
import type { Caller } from '../../access/caller.ts'
import type { MessageLabel } from '../channel.ts'

// Messages of the service that carry no data of a channel.

/** The fields by which messages name a subscription. */
export interface SubscriptionName {
  readonly channel: StreamChannel
  readonly market?: string
  readonly interval?: CandleInterval
}

export function helloMessage(chain: ChainSlug, heartbeatMs: number): string {
  return JSON.stringify({ op: 'hello', chain, heartbeatMs })
}

export function pingMessage(timestamp: number): string {
  return JSON.stringify({ op: 'ping', timestamp })
}

export function pongMessage(timestamp: number, { id }: MessageLabel = {}): string {
  return JSON.stringify({ op: 'pong', id, timestamp })
}

export function authenticatedMessage({ trader, via }: Caller, { id }: MessageLabel = {}): string {
  return JSON.stringify({ op: 'authenticated', id, trader, via })
}

export function subscribedMessage({ id, channel, market, interval }: MessageLabel, isDuplicate: boolean): string {
  const duplicate = isDuplicate ? { duplicate: true } : {}
  return JSON.stringify({ op: 'subscribed', id, channel, market, interval, ...duplicate })
}

export function unsubscribedMessage({ id, channel, market, interval }: MessageLabel): string {
  return JSON.stringify({ op: 'unsubscribed', id, channel, market, interval })
}

/** Returns the refusal of a message. `requestId` is the one of the request that opened the socket. */
export function errorMessage(
  error: ApiError,
  requestId: string,
  { id, channel, market, interval }: MessageLabel = {},
): string {
  const { code, message, details } = error.toBody(requestId)
  return JSON.stringify({ op: 'error', id, code, message, channel, market, interval, details })
}
