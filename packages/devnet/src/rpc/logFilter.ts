import type { ChainLog } from '../chain/block.ts'
import { invalidParams } from '../chain/rpcError.ts'

/** Decides whether a subscriber wants a log. */
export type LogFilter = (log: ChainLog) => boolean

const MAX_TOPICS = 4
/** Addresses, or alternatives for one topic. */
const MAX_ALTERNATIVES = 1_000

/** Reads the filter of eth_subscribe("logs"): address or addresses, and topics by position (null is any, an array is either). */
export function parseLogFilter(value: unknown): LogFilter {
  if (value === undefined || value === null) return () => true
  if (typeof value !== 'object' || Array.isArray(value)) throw invalidParams('the log filter must be an object')
  const { address, topics } = value as { address?: unknown; topics?: unknown }
  const addresses = parseAlternatives(address, 40, 'address')
  const wanted = parseTopics(topics)
  return (log) =>
    accepts(addresses, log.address) &&
    // As in geth, a position left open still has to be there.
    log.topics.length >= wanted.length &&
    wanted.every((topic, index) => accepts(topic, log.topics[index]))
}

function parseTopics(topics: unknown): (ReadonlySet<string> | undefined)[] {
  if (topics === undefined || topics === null) return []
  if (!Array.isArray(topics) || topics.length > MAX_TOPICS)
    throw invalidParams(`topics must be an array of at most ${MAX_TOPICS}`)
  return topics.map((topic: unknown) => parseAlternatives(topic, 64, 'topic'))
}

function parseAlternatives(value: unknown, digits: number, name: string): ReadonlySet<string> | undefined {
  if (value === undefined || value === null) return undefined
  const list: unknown[] = Array.isArray(value) ? value : [value]
  if (list.length > MAX_ALTERNATIVES) throw invalidParams(`more than ${MAX_ALTERNATIVES} alternatives for ${name}`)
  // As in geth, an empty list asks for nothing in particular.
  if (list.length === 0) return undefined
  return new Set(list.map((item) => parseHex(item, digits, name)))
}

function parseHex(value: unknown, digits: number, name: string): string {
  if (typeof value === 'string' && value.length === digits + 2 && /^0x[0-9a-fA-F]+$/.test(value))
    return value.toLowerCase()
  throw invalidParams(`${name} must be 0x and ${digits} hex digits`)
}

function accepts(wanted: ReadonlySet<string> | undefined, value: string | undefined): boolean {
  return wanted === undefined || (value !== undefined && wanted.has(value.toLowerCase()))
}
