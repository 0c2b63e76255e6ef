import type { ApiError, CandleInterval, ChainSlug, StreamChannel } from '@bezel/protocol'
import type { Caller } from '../../access/caller.ts'

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

export function pongMessage(timestamp: number): string {
  return JSON.stringify({ op: 'pong', timestamp })
}

export function authenticatedMessage({ trader, via }: Caller): string {
  return JSON.stringify({ op: 'authenticated', trader, via })
}

export function subscribedMessage({ channel, market, interval }: SubscriptionName, isDuplicate: boolean): string {
  const duplicate = isDuplicate ? { duplicate: true } : {}
  return JSON.stringify({ op: 'subscribed', channel, market, interval, ...duplicate })
}

export function unsubscribedMessage({ channel, market, interval }: SubscriptionName): string {
  return JSON.stringify({ op: 'unsubscribed', channel, market, interval })
}

export function errorMessage({ code, message }: ApiError): string {
  return JSON.stringify({ op: 'error', code, message })
}
