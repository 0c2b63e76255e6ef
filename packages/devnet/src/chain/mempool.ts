import type { Hex } from 'viem'
import { isErrorAnswer, resultText, RPC_CODES, RpcError, invalidParams } from './jsonRpc.ts'
import type { EdrProvider } from './edrProvider.ts'
import type { Listeners } from './block.ts'

/**
 * The raw transactions that wait for a block. EDR has them too, but does not return their raw bytes and loses them when
 * it is reverted.
 */
export interface Mempool {
  /** Sends a caller's transaction and returns EDR's answer text. */
  send(raw: unknown): Promise<string>
  /** Sends a transaction again after a rewind. Returns false when the chain no longer accepts it. */
  inject(raw: Hex): Promise<boolean>
  /** Removes and returns the mined transactions, in the order of `hashes`. */
  takeMined(hashes: readonly Hex[]): Promise<Hex[]>
  /** Removes and returns all transactions, oldest first. */
  takeAll(): Hex[]
  list(): Hex[]
  forget(hash: Hex): void
  /** Drops transactions that EDR no longer has, for instance those replaced by a better paid one. */
  prune(): Promise<void>
  /** Resolves when the sends under way are recorded. */
  settled(): Promise<void>
}

const MAX_PENDING_TRANSACTIONS = 20_000

export function createMempool(edr: EdrProvider, pendingListeners: Listeners<Hex>): Mempool {
  const rawByHash = new Map<Hex, Hex>()
  const sends = new Set<Promise<string>>()

  async function settled(): Promise<void> {
    await Promise.allSettled(sends)
  }

  async function record(raw: Hex): Promise<string> {
    const answer = await edr.send(`{"method":"eth_sendRawTransaction","params":["${raw}"]}`)
    if (isErrorAnswer(answer)) return answer
    const hash = JSON.parse(resultText(answer)) as Hex
    rawByHash.set(hash, raw)
    pendingListeners.tell(hash)
    return answer
  }

  return {
    settled,
    async send(raw) {
      const checked = checkRaw(raw)
      if (rawByHash.size >= MAX_PENDING_TRANSACTIONS) throw new RpcError(RPC_CODES.server, 'txpool is full')
      const sending = record(checked)
      sends.add(sending)
      return sending.finally(() => sends.delete(sending))
    },
    async inject(raw) {
      try {
        rawByHash.set(await edr.call<Hex>('eth_sendRawTransaction', [raw]), raw)
        return true
      } catch (error) {
        if (error instanceof RpcError) return false
        throw error
      }
    },
    async takeMined(hashes) {
      // A transaction can be mined before the answer to its sender has come back.
      if (hashes.some((hash) => !rawByHash.has(hash))) await settled()
      return hashes.map((hash) => take(rawByHash, hash))
    },
    takeAll() {
      const all = [...rawByHash.values()]
      rawByHash.clear()
      return all
    },
    list: () => [...rawByHash.values()],
    forget: (hash) => rawByHash.delete(hash),
    async prune() {
      const known = [...rawByHash.keys()]
      if (known.length === 0) return
      const pending = await edr.call<{ hash: Hex }[]>('eth_pendingTransactions')
      const waiting = new Set(pending.map(({ hash }) => hash))
      for (const hash of known) if (!waiting.has(hash)) rawByHash.delete(hash)
    },
  }
}

function checkRaw(raw: unknown): Hex {
  if (typeof raw === 'string' && /^0x(?:[0-9a-fA-F]{2})+$/.test(raw)) return raw as Hex
  throw invalidParams('eth_sendRawTransaction takes one signed transaction as 0x-prefixed hex')
}

function take(rawByHash: Map<Hex, Hex>, hash: Hex): Hex {
  const raw = rawByHash.get(hash)
  if (raw === undefined) throw new Error(`block holds transaction ${hash}, which was never sent`)
  rawByHash.delete(hash)
  return raw
}
