import { CLOSE_CODES } from '@bezel/protocol'
import type { StreamBounds } from '../../stream/bounds.ts'

const CLOSE_REASONS: Readonly<Record<keyof typeof CLOSE_CODES, string>> = {
  normal: 'the client closed it',
  shutdown: 'the service stops: connect again',
  binary: 'a binary message; only text is understood',
  tooLarge: 'a message above the limit',
  idle: 'nothing was heard of the client for too long',
  rateLimited: 'too many messages, or private events that were not read in time: connect again and resume',
}

/** What holds for all messages. */
export function streamText(bounds: StreamBounds): string {
  return [
    'One socket per chain carries public market data and the private events of one trader. All messages are JSON text.',
    '',
    limitsText(bounds),
    '',
    'Close codes:',
    '',
    ...closeCodeLines(),
    '',
    'A refused upgrade is answered in HTTP with the error of the REST operations: 401 or 403 for bad credentials, 404 for an unknown chain, 429',
    'for too many sockets or requests.',
  ].join('\n')
}

function limitsText(bounds: StreamBounds): string {
  return [
    `Limits: ${bounds.maxSubscriptions} subscriptions per socket, ${bounds.maxMessageBytes} bytes per client message,`,
    `${bounds.maxMessagesPerSecond} client messages per second, ${bounds.maxSocketsPerIp} sockets per IP. The service pings every`,
    `${bounds.heartbeatMs / 1_000} s and closes a socket of which it heard nothing for ${bounds.idleMs / 1_000} s. A reader that falls`,
    'behind gets snapshots instead of older public data; one that leaves private events unread is closed.',
  ].join('\n')
}

function closeCodeLines(): string[] {
  return (Object.keys(CLOSE_CODES) as (keyof typeof CLOSE_CODES)[]).map(
    (name) => `- ${CLOSE_CODES[name]}: ${CLOSE_REASONS[name]}`,
  )
}
