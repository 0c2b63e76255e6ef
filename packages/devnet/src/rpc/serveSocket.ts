import type { Hex } from 'viem'
import type { WebSocket } from 'ws'
import { errorAnswer, resultAnswer, RPC_CODES, RpcError, invalidParams } from '../chain/jsonRpc.ts'
import type { LocalChain } from '../chain/createLocalChain.ts'
import { RPC_LIMITS, frame, respond, type Responder } from './respond.ts'
import type { ChainLog, MinedBlock } from '../chain/block.ts'

/** JSON of heads and logs, made once for all sockets that receive them. */
const jsonCache = new WeakMap<object, string>()

let lastId = 0

/** Serves JSON-RPC and subscriptions of one chain on one WebSocket until it closes. */
export function serveSocket(socket: WebSocket, chain: LocalChain, responder: Responder): void {
  const send = (text: string): void => sendBounded(socket, text)
  const subscriptions = createSubscriptions(send)
  const withSubscriptions = addSubscriptionMethods(responder, subscriptions)
  const stopBlocks = chain.onBlock(subscriptions.tellBlock)
  const stopPending = chain.onPendingTransaction(subscriptions.tellPending)
  let underWay = 0

  socket.on('message', async (message: Buffer) => {
    if (underWay >= RPC_LIMITS.maxSocketRequests) return send(frame(null, errorAnswer(tooManyRequests())))
    underWay += 1
    try {
      const answer = await respond(withSubscriptions, message.toString('utf8'))
      if (answer !== undefined) send(answer)
    } catch (error) {
      // A failure concerns this message alone, not the process.
      send(frame(null, errorAnswer(error)))
    } finally {
      underWay -= 1
    }
  })
  socket.on('close', () => {
    stopBlocks()
    stopPending()
  })
  // ws closes the socket by itself after a protocol error; without a listener the error would end the process.
  socket.on('error', () => undefined)
}

function addSubscriptionMethods(responder: Responder, subscriptions: Subscriptions): Responder {
  return {
    isWrite: responder.isWrite,
    async run(method, params, requestText) {
      if (method === 'eth_subscribe') return resultAnswer(subscriptions.subscribe(params))
      if (method === 'eth_unsubscribe') return resultAnswer(subscriptions.unsubscribe(params))
      return responder.run(method, params, requestText)
    },
  }
}

function sendBounded(socket: WebSocket, text: string): void {
  if (socket.readyState !== socket.OPEN) return
  if (socket.bufferedAmount > RPC_LIMITS.maxSocketBufferBytes) socket.terminate()
  else socket.send(text)
}

function tooManyRequests(): RpcError {
  return new RpcError(
    RPC_CODES.limitExceeded,
    `more than ${RPC_LIMITS.maxSocketRequests} requests under way on this socket`,
  )
}

type Subscription = { kind: 'newHeads' } | { kind: 'newPendingTransactions' } | { kind: 'logs'; filter: LogFilter }

/** The eth_subscribe subscriptions of one WebSocket. */
interface Subscriptions {
  subscribe(params: readonly unknown[]): Hex
  unsubscribe(params: readonly unknown[]): boolean
  tellBlock(block: MinedBlock): void
  tellPending(hash: Hex): void
}

function createSubscriptions(send: (text: string) => void): Subscriptions {
  const byId = new Map<Hex, Subscription>()

  function notify(id: Hex, resultJson: string): void {
    send(`{"jsonrpc":"2.0","method":"eth_subscription","params":{"subscription":"${id}","result":${resultJson}}}`)
  }

  function tellLogs(logs: readonly ChainLog[]): void {
    for (const log of logs) {
      for (const [id, subscription] of byId) {
        if (subscription.kind === 'logs' && subscription.filter(log)) notify(id, cachedJson(log))
      }
    }
  }

  return {
    subscribe(params) {
      if (byId.size >= RPC_LIMITS.maxSocketSubscriptions) {
        throw invalidParams(`a socket may have at most ${RPC_LIMITS.maxSocketSubscriptions} subscriptions`)
      }
      const subscription = parseSubscription(params)
      const id = newId()
      byId.set(id, subscription)
      return id
    },
    unsubscribe: ([id]) => byId.delete(id as Hex),
    tellBlock(block) {
      if (byId.size === 0) return
      tellLogs(block.removedLogs)
      for (const [id, { kind }] of byId) if (kind === 'newHeads') notify(id, cachedJson(block.header))
      tellLogs(block.logs)
    },
    tellPending(hash) {
      for (const [id, { kind }] of byId) if (kind === 'newPendingTransactions') notify(id, `"${hash}"`)
    },
  }
}

function parseSubscription([kind, filter]: readonly unknown[]): Subscription {
  if (kind === 'newHeads' || kind === 'newPendingTransactions') return { kind }
  if (kind === 'logs') return { kind, filter: parseLogFilter(filter) }
  throw invalidParams('eth_subscribe serves newHeads, logs and newPendingTransactions')
}

/** Returns a new id, unique in the process, so that one socket's id never works on another. */
function newId(): Hex {
  lastId += 1
  return `0x${lastId.toString(16).padStart(32, '0')}`
}

function cachedJson(value: object): string {
  const known = jsonCache.get(value)
  if (known !== undefined) return known
  const json = JSON.stringify(value)
  jsonCache.set(value, json)
  return json
}

/** Decides whether a subscriber wants a log. */
type LogFilter = (log: ChainLog) => boolean

const MAX_TOPICS = 4

/** Limit of addresses, or of alternatives for one topic. */
const MAX_ALTERNATIVES = 1_000

/**
 * Parses the filter of eth_subscribe("logs"): one or more addresses, and topics by position (null is any, an array is
 * either).
 */
function parseLogFilter(value: unknown): LogFilter {
  if (value === undefined || value === null) return () => true
  if (typeof value !== 'object' || Array.isArray(value)) throw invalidParams('the log filter must be an object')
  const { address, topics } = value as { address?: unknown; topics?: unknown }
  const addresses = parseAlternatives(address, 40, 'address')
  const wanted = parseTopics(topics)
  return (log) =>
    accepts(addresses, log.address) &&
    // A position left open must still exist, as in geth.
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
  // An empty list asks for nothing in particular, as in geth.
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
