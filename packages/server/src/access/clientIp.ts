import { parseIpAddress, type IpAddress } from './ipAddress.ts'

/** Stands for a client without an address (a socket that is gone, a Unix socket), so that those are counted too: together. */
export const UNKNOWN_IP = 'unknown' as IpAddress

/** What is known of where a request came from. */
export interface RequestOrigin {
  /** Address of the other end of the connection. */
  readonly socketAddress: string | undefined
  /** The `X-Forwarded-For` header, if any. */
  readonly forwardedFor: string | readonly string[] | undefined
  /** How many proxies of the operator a request passes; each appends the address it was called from to the header. 0 = none. */
  readonly trustedProxies: number
}

/** `1.2.3.4:5678`, as some proxies write it, and `[2001:db8::1]` with or without a port. */
const WITH_PORT = /^(?:\[([0-9a-fA-F:.]{2,45})\](?::\d{1,5})?|(\d{1,3}(?:\.\d{1,3}){3}):\d{1,5})$/

/**
 * The client's address: the socket's, or behind n trusted proxies the n-th entry of `X-Forwarded-For` from the right, which is the
 * last one that was not written by a stranger. Entries further left are whatever the client sent and are never looked at. With
 * fewer entries than proxies all of them are the proxies' own, so the left-most counts. An entry that is no address can't
 * come from a proxy that does its work, so the socket's address is used.
 */
export function clientIp({ socketAddress, forwardedFor, trustedProxies }: RequestOrigin): IpAddress {
  const socketIp = parseIpAddress(socketAddress ?? '') ?? UNKNOWN_IP
  if (trustedProxies === 0 || forwardedFor === undefined) return socketIp
  const header = typeof forwardedFor === 'string' ? forwardedFor : forwardedFor.join(',')
  return parseEntry(entryFromRight(header, trustedProxies)) ?? socketIp
}

/** The n-th entry of a comma-separated list from the right, or the left-most. Reads no further than that. */
function entryFromRight(list: string, n: number): string {
  let end = list.length
  let comma = list.lastIndexOf(',')
  for (let i = 1; i < n && comma !== -1; i++) {
    end = comma
    comma = comma === 0 ? -1 : list.lastIndexOf(',', comma - 1)
  }
  return list.slice(comma + 1, end).trim()
}

function parseEntry(entry: string): IpAddress | undefined {
  const [, bracketed, dotted] = WITH_PORT.exec(entry) ?? []
  return parseIpAddress(bracketed ?? dotted ?? entry)
}
