import { NodeUnavailableError } from '../../ground/unavailable.ts'
import { keccak256, numberToHex, toHex } from 'viem'
import type { Address, Hex } from '@bezel/protocol'
import type { DiamondEvent } from '../../chain/events.ts'
import type { RpcCall, RpcClient, RpcOutcome } from '../../chain/rpcClient.ts'
import { encodeLog } from '../../chain/testing/encodeLog.ts'

/** A transaction of a made-up chain. */
export interface FakeTransaction {
  readonly hash?: Hex
  readonly from: Address
  readonly to?: Address
  readonly input?: Hex
  readonly events?: readonly DiamondEvent[]
  readonly isReverted?: boolean
}

/** A node with a made-up chain, which can fail in every way that real nodes do. */
export interface FakeNode {
  readonly client: RpcClient
  chainId: number
  /** True to let every batch fail. */
  isAway: boolean
  /** True to find logs by block hash but not by number, like a node whose index is late. */
  hidesLogs: boolean
  /** Widest range of logs, in blocks, that the node accepts. */
  maxRange: number
  /** Highest block that the node shows; `undefined` for all. */
  shown: number | undefined
  /** Number of the block that has the `finalized` tag; `undefined` for a node without the tag. */
  finalized: number | undefined
  /** Transactions that the node knows and no block has, by hash. */
  readonly mempool: Map<Hex, { readonly from: Address; readonly input: Hex }>
  /** Fixed answers by method, instead of the real ones. */
  readonly lies: Map<string, unknown>
  head(): number
  mine(...transactions: readonly FakeTransaction[]): Hex
  /** Drops the last blocks. Blocks mined afterwards have other hashes, even with the same content. */
  rewind(depth: number): void
  /** Returns the message with which a node pushes a block, by default the newest one, to its subscribers. */
  headMessage(number?: number): string
  /** The methods of each batch so far. */
  readonly batches: string[][]
}

interface FakeBlock {
  readonly json: Readonly<Record<string, unknown>>
  readonly hash: Hex
  readonly logs: readonly Readonly<Record<string, unknown>>[]
  readonly receipts: ReadonlyMap<string, Readonly<Record<string, unknown>>>
}

const NO_HASH = `0x${'00'.repeat(32)}` as Hex

export const START_MS = 1_800_000_000_000

export function createFakeNode(diamond: Address, chainId: number): FakeNode {
  let fork = 0
  const blocks: FakeBlock[] = []
  const node: FakeNode = {
    client: { roundTrips: () => node.batches.length, batch: async (calls) => answer(calls) },
    chainId,
    isAway: false,
    hidesLogs: false,
    maxRange: 100_000,
    shown: undefined,
    finalized: undefined,
    mempool: new Map(),
    lies: new Map(),
    head: () => Math.min(node.shown ?? Number.MAX_SAFE_INTEGER, blocks.length - 1),
    mine: (...transactions) => {
      const parentHash = blocks.at(-1)?.hash ?? NO_HASH
      const made = makeBlock(diamond, { number: blocks.length, fork, parentHash, transactions })
      blocks.push(made)
      return made.hash
    },
    rewind(depth) {
      blocks.splice(blocks.length - depth, depth)
      fork += 1
    },
    headMessage: (number = node.head()) => headMessageOf(blocks[number]!),
    batches: [],
  }

  function answer(calls: readonly RpcCall[]): RpcOutcome[] {
    node.batches.push(calls.map(({ method }) => method))
    if (node.isAway) throw new NodeUnavailableError('the node is away')
    return calls.map((call) => (node.lies.has(call.method) ? ok(node.lies.get(call.method)) : answerOne(call)))
  }

  function answerOne({ method, params }: RpcCall): RpcOutcome {
    if (method === 'eth_chainId') return ok(numberToHex(node.chainId))
    if (method === 'eth_blockNumber') return ok(numberToHex(node.head()))
    if (method === 'eth_getBlockByNumber') {
      return ok(blocks[numberOf(params[0]) ?? -1]?.json ?? null)
    }
    if (method === 'eth_getLogs')
      return logs(params[0] as { fromBlock?: Hex; toBlock?: Hex | 'latest'; blockHash?: Hex })
    if (method === 'eth_getTransactionReceipt') {
      const found = blocks.find(({ receipts }) => receipts.has(String(params[0])))
      return ok(found?.receipts.get(String(params[0])) ?? null)
    }
    if (method === 'eth_getTransactionByHash') {
      const found = node.mempool.get(params[0] as Hex)
      return ok(found === undefined ? null : { hash: params[0], to: diamond, ...found })
    }
    return { ok: false, code: -32601, message: `${method} is not known`, data: undefined }
  }

  function numberOf(tag: unknown): number | undefined {
    if (typeof tag === 'string' && !tag.startsWith('0x')) return tag === 'finalized' ? node.finalized : node.head()
    return Number(tag) > node.head() ? undefined : Number(tag)
  }

  function logs({
    fromBlock,
    toBlock,
    blockHash,
  }: {
    fromBlock?: Hex
    toBlock?: Hex | 'latest'
    blockHash?: Hex
  }): RpcOutcome {
    if (blockHash !== undefined) return ok(blocks.find(({ hash }) => hash === blockHash)?.logs ?? [])
    const [from, to] = [Number(fromBlock), toBlock === 'latest' ? node.head() : Number(toBlock)]
    if (to - from + 1 > node.maxRange) return { ok: false, code: -32005, message: 'too many blocks', data: undefined }
    return ok(node.hidesLogs ? [] : blocks.slice(from, to + 1).flatMap((block) => block.logs))
  }

  return node
}

function headMessageOf({ json }: FakeBlock): string {
  const { transactions: _, ...result } = json
  return JSON.stringify({ jsonrpc: '2.0', method: 'eth_subscription', params: { subscription: '0x1', result } })
}

function ok(result: unknown): RpcOutcome {
  return { ok: true, result }
}

function makeBlock(
  diamond: Address,
  of: { number: number; fork: number; parentHash: Hex; transactions: readonly FakeTransaction[] },
): FakeBlock {
  const hash = keccak256(toHex(`block ${of.number} of fork ${of.fork} on ${of.parentHash}`)) as Hex
  const number = numberToHex(of.number)
  const transactions = of.transactions.map((transaction, index) => ({
    from: transaction.from,
    to: transaction.to ?? diamond,
    input: transaction.input ?? '0x',
    hash: transaction.hash ?? keccak256(toHex(`transaction ${index} of ${hash}`)),
  }))
  const logs = of.transactions.flatMap(({ events = [] }, index) =>
    events.map((event) => ({
      ...encodeLog(event),
      address: diamond,
      blockNumber: number,
      blockHash: hash,
      transactionHash: transactions[index]!.hash,
      transactionIndex: numberToHex(index),
      removed: false,
    })),
  )
  const receipts = of.transactions.map(({ isReverted }, index) => ({
    transactionHash: transactions[index]!.hash,
    blockHash: hash,
    blockNumber: number,
    transactionIndex: numberToHex(index),
    status: isReverted === true ? '0x0' : '0x1',
  }))
  return {
    hash,
    logs: logs.map((log, i) => ({ ...log, logIndex: numberToHex(i) })),
    receipts: new Map(receipts.map((receipt) => [receipt.transactionHash, receipt])),
    json: {
      number,
      hash,
      parentHash: of.parentHash,
      timestamp: numberToHex(START_MS / 1000 + of.number),
      logsBloom: `0x${(logs.length > 0 ? 'ff' : '00').repeat(256)}`,
      transactions,
    },
  }
}
