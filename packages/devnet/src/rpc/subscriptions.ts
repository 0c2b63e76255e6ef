import type { ChainLog, MinedBlock } from '../chain/block.ts'
import type { Hex } from '../chain/quantity.ts'
import { invalidParams } from '../chain/rpcError.ts'
import { RPC_LIMITS } from './limits.ts'
import { parseLogFilter } from './logFilter.ts'
import type { LogFilter } from './logFilter.ts'

type Subscription = { kind: 'newHeads' } | { kind: 'newPendingTransactions' } | { kind: 'logs'; filter: LogFilter }

/** The eth_subscribe subscriptions of one WebSocket. */
export interface Subscriptions {
  subscribe(params: readonly unknown[]): Hex
  unsubscribe(params: readonly unknown[]): boolean
  tellBlock(block: MinedBlock): void
  tellPending(hash: Hex): void
}

/** JSON of heads and logs, made once for all the sockets that are told of them. */
const jsonCache = new WeakMap<object, string>()

export function createSubscriptions(send: (text: string) => void): Subscriptions {
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

let lastId = 0

/** Ids are unique in the process, so that one socket's id never works on another. */
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
