import type { diamondAbi } from '@bezel/protocol'
import type { ContractFunctionReturnType } from 'viem'
import type { Diamond } from './createDiamond.ts'

// Reads whole lists of the Diamond at the latest block. The Diamond does not say how long a list is: a part of it is
// filled up with empty entries.

export type OpenTrade = ContractFunctionReturnType<typeof diamondAbi, 'view', 'getAllTrades'>[number]

export type OpenTradeInfo = ContractFunctionReturnType<typeof diamondAbi, 'view', 'getAllTradeInfos'>[number]

export type OpenPendingOrder = ContractFunctionReturnType<typeof diamondAbi, 'view', 'getAllPendingOrders'>[number]

/** Number of entries in the first part of a list. Few, because empty ones cost as much as others. */
const FIRST_PART = 16n

/** Maximum number of entries in a part; each is twice as long as the one before. */
const MAX_PART = 512n

/** Reads all open trades and resting orders, each with its info. A block in between may mix up the two. */
export function readOpenTrades(diamond: Pick<Diamond, 'read'>): Promise<(readonly [OpenTrade, OpenTradeInfo])[]> {
  return readParts(
    async (offset, limit) => {
      const trades = await diamond.read('getAllTrades', [offset, limit])
      const infos = await diamond.read('getAllTradeInfos', [offset, limit])
      return trades.map((trade, i) => [trade, infos[i]!] as const)
    },
    ([trade]) => trade.isOpen,
  )
}

/** Reads all requests that wait for an answer. */
export function readPendingOrders(diamond: Pick<Diamond, 'read'>): Promise<OpenPendingOrder[]> {
  return readParts(
    (offset, limit) => diamond.read('getAllPendingOrders', [offset, limit]),
    ({ isOpen }) => isOpen,
  )
}

/** Reads a list part by part, up to its first empty entry. `read` takes the first and the last entry, both included. */
async function readParts<Entry>(
  read: (offset: bigint, limit: bigint) => Promise<readonly Entry[]>,
  isOpen: (entry: Entry) => boolean,
): Promise<Entry[]> {
  const entries: Entry[] = []
  for (let size = FIRST_PART; ; size = size * 2n < MAX_PART ? size * 2n : MAX_PART) {
    const offset = BigInt(entries.length)
    const open = (await read(offset, offset + size - 1n)).filter(isOpen)
    entries.push(...open)
    if (open.length < size) return entries
  }
}
