import { isIPv4, isIPv6 } from 'node:net'
import type { Brand } from '@bezel/protocol'

/** An IP address in one spelling: dotted IPv4, or eight groups of IPv6 in lower case without leading zeros. */
export type IpAddress = Brand<string, 'IpAddress'>

const GROUPS = 8
/** The part of an IPv6 address that names a network; the rest is chosen freely by whoever has that network. */
const NETWORK_GROUPS = 4

/** How a socket that listens on IPv6 names its IPv4 clients; the usual spelling of what `mappedIpv4` finds in any. */
const MAPPED_PREFIX = '::ffff:'

/** `undefined` when it is no IP address. IPv4 written as IPv6 (`::ffff:1.2.3.4`) is IPv4; a zone (`%eth0`) is left out. */
export function parseIpAddress(text: string): IpAddress | undefined {
  const bare = text.startsWith(MAPPED_PREFIX) ? text.slice(MAPPED_PREFIX.length) : text
  if (isIPv4(bare)) return bare as IpAddress
  if (!isIPv6(text)) return undefined
  const groups = groupsOf(text.split('%', 1)[0]!)
  return (mappedIpv4(groups) ?? groups.map((group) => group.toString(16)).join(':')) as IpAddress
}

/**
 * What requests are counted under: an IPv4 address, or the /64 network of an IPv6 address. Providers hand out at least a /64 to one
 * customer, so single addresses in it would give everybody 2^64 times the limit.
 */
export function networkOf(ip: IpAddress): string {
  return ip.includes(':') ? `${ip.split(':', NETWORK_GROUPS).join(':')}::/64` : ip
}

/** All eight, of a valid address without a zone. */
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

/** The IPv4 address in `::ffff:0:0/96`. */
function mappedIpv4(groups: readonly number[]): string | undefined {
  const isMapped = groups[5] === 0xffff && groups.slice(0, 5).every((group) => group === 0)
  if (!isMapped) return undefined
  return groups
    .slice(6)
    .flatMap((group) => [group >> 8, group & 0xff])
    .join('.')
}
