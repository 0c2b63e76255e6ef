import { isIPv4, isIPv6 } from 'node:net'
import type { Brand } from '@bezel/protocol'

/** An IP address in one spelling: dotted IPv4, or eight groups of IPv6 in lower case without leading zeros. */
export type IpAddress = Brand<string, 'IpAddress'>

/** The addresses that a request names as its origin. */
interface RequestOrigin {
  /** Address of the other end of the connection. */
  readonly socketAddress: string | undefined
  /** The `X-Forwarded-For` header, if any. */
  readonly forwardedFor: string | readonly string[] | undefined
  /**
   * Number of the operator's proxies that a request passes, 0 for none. Each appends the address it was called from to
   * the header.
   */
  readonly trustedProxies: number
}

/** The address of all clients without one (a closed socket, a Unix socket), so that they share one counter. */
export const UNKNOWN_IP = 'unknown' as IpAddress

const GROUPS = 8

/** Groups of an IPv6 address that name the network; its owner chooses the others freely. */
const NETWORK_GROUPS = 4

/** Groups of an IPv6 address that name its site: the /48, the most that one customer is commonly given. */
const SITE_GROUPS = 3

/** Prefix with which an IPv6 socket names its IPv4 clients. `mappedIpv4` finds the other spellings of the same. */
const MAPPED_PREFIX = '::ffff:'

/** An address with a port, as some proxies write it: `1.2.3.4:5678`, or `[2001:db8::1]` with or without a port. */
const WITH_PORT = /^(?:\[([0-9a-fA-F:.]{2,45})\](?::\d{1,5})?|(\d{1,3}(?:\.\d{1,3}){3}):\d{1,5})$/

/**
 * Returns the client's address: the socket's, or behind n trusted proxies the n-th entry of `X-Forwarded-For` from the
 * right, which the outermost trusted proxy wrote. Entries further left come from the client and are ignored. With fewer
 * entries than proxies, all of them are the proxies' own and the left-most one counts. A working proxy writes only
 * addresses, so for an entry that is none the socket's address is used.
 */
export function clientIp({ socketAddress, forwardedFor, trustedProxies }: RequestOrigin): IpAddress {
  const socketIp = parseIpAddress(socketAddress ?? '') ?? UNKNOWN_IP
  if (trustedProxies === 0 || forwardedFor === undefined) return socketIp
  const header = typeof forwardedFor === 'string' ? forwardedFor : forwardedFor.join(',')
  return parseEntry(entryFromRight(header, trustedProxies)) ?? socketIp
}

/**
 * Parses an IP address; `undefined` when the text is none. IPv4 written as IPv6 (`::ffff:1.2.3.4`) becomes IPv4; a zone
 * (`%eth0`) is dropped.
 */
export function parseIpAddress(text: string): IpAddress | undefined {
  const bare = text.startsWith(MAPPED_PREFIX) ? text.slice(MAPPED_PREFIX.length) : text
  if (isIPv4(bare)) return bare as IpAddress
  if (!isIPv6(text)) return undefined
  const groups = groupsOf(text.split('%', 1)[0]!)
  return (mappedIpv4(groups) ?? groups.map((group) => group.toString(16)).join(':')) as IpAddress
}

/**
 * Returns the key that requests are counted under: an IPv4 address, or the /64 network of an IPv6 address. Providers
 * hand out at least a /64 to one customer, so counting single addresses would give everybody 2^64 times the limit.
 */
export function networkOf(ip: IpAddress): string {
  return ip.includes(':') ? `${ip.split(':', NETWORK_GROUPS).join(':')}::/64` : ip
}

/**
 * Returns the network that registrations are counted by: the /24 of an IPv4 address, the /48 of an IPv6 address. Takes
 * an address, or the key of its requests (`networkOf`), which is narrower: a record stays for days, and one owner moves
 * between the addresses it has.
 */
export function registrationNetworkOf(ip: string): string {
  if (ip.includes(':')) return `${ip.split(':', SITE_GROUPS).join(':')}::/48`
  return ip === UNKNOWN_IP ? ip : `${ip.slice(0, ip.lastIndexOf('.'))}.0/24`
}

/** Returns the n-th entry of a comma-separated list from the right, or the left-most. Reads no further than that. */
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

/** Returns all eight groups of a valid address without a zone. */
function groupsOf(text: string): number[] {
  const [front = '', back] = text.split('::')
  const head = groupsIn(front)
  if (back === undefined) return head
  const tail = groupsIn(back)
  const zeros = Array.from({ length: GROUPS - head.length - tail.length }, () => 0)
  return [...head, ...zeros, ...tail]
}

function groupsIn(part: string): number[] {
  const groups: number[] = []
  if (part === '') return groups
  for (const group of part.split(':')) {
    if (group.includes('.')) groups.push(...ipv4Groups(group))
    else groups.push(Number.parseInt(group, 16))
  }
  return groups
}

function ipv4Groups(dotted: string): number[] {
  const [a = 0, b = 0, c = 0, d = 0] = dotted.split('.').map(Number)
  return [a * 256 + b, c * 256 + d]
}

/** Returns the IPv4 address of an address in `::ffff:0:0/96`, else `undefined`. */
function mappedIpv4(groups: readonly number[]): string | undefined {
  const isMapped = groups[5] === 0xffff && groups.slice(0, 5).every((group) => group === 0)
  if (!isMapped) return undefined
  return groups
    .slice(6)
    .flatMap((group) => [group >> 8, group & 0xff])
    .join('.')
}
