import type { Address, Hex } from '@bezel/protocol'
import { keccak256, numberToHex, parseTransaction, toHex } from 'viem'
import type { RpcCall, RpcClient, RpcOutcome } from '../../../chain/rpcClient.ts'

/** A transaction that was sent to the node. */
export interface SentTransaction {
  readonly hash: Hex
  readonly raw: Hex
  readonly nonce: number
  readonly to: string
  readonly data: Hex
  readonly value: bigint
  readonly gas: bigint
  readonly maxFeeWei: bigint
  readonly tipWei: bigint
}

/** Replaces the answer of one call; `undefined` leaves it unchanged. */
export type Lie = (call: RpcCall, truth: RpcOutcome) => RpcOutcome | undefined

/**
 * A node with one account, a mempool by geth's rules, and blocks that are mined on demand. Answers truthfully unless
 * `lie` is set.
 */
export interface FakeRelayNode {
  readonly client: RpcClient
  baseFeeWei: bigint
  balanceWei: bigint
  lie: Lie | undefined
  /** Called before a batch has any effect. */
  before: (() => void) | undefined
  after: (() => void) | undefined
  /** All raw transactions received, taken or not. */
  readonly received: SentTransaction[]
  onReceived: ((sent: SentTransaction) => void) | undefined
  readonly mempool: Map<number, SentTransaction>
  /** Returns the transaction that the next block's miner has for a nonce, when it differs from this node's. */
  elsewhere: ((nonce: number) => SentTransaction | undefined) | undefined
  head(): number
  /** Returns the newest block. */
  headBlock(): { readonly number: number; readonly hash: Hex }
  /** Returns the number of used nonces of the account. */
  used(): number
  /** Returns the account's transactions on the chain, in the order of their nonces. */
  minedTransactions(): readonly SentTransaction[]
  /** Mines a block with up to `limit` waiting transactions that pay the base fee. */
  mine(limit?: number): void
  /** Replaces the last blocks by one more than there were; their transactions wait again, or are gone. */
  reorg(depth: number, mode: 'drop' | 'remine'): void
  /** Sends a transaction with the key from elsewhere; it is in the next block. */
  useElsewhere(nonce?: number): void
  /** Returns a function that always answers from the state of this moment. */
  snapshot(): (call: RpcCall) => RpcOutcome
}

interface FakeBlock {
  readonly hash: Hex
  readonly transactions: readonly SentTransaction[]
}

const GAS_USED = 20_000n

export function createFakeRelayNode(account: Address): FakeRelayNode {
  let blocks: FakeBlock[] = []
  let made = 0
  let foreign = 0
  const node: FakeRelayNode = {
    client: { roundTrips: () => 0, batch: async (calls) => answerAll(calls) },
    baseFeeWei: 10_000_000n,
    balanceWei: 10n ** 19n,
    lie: undefined,
    before: undefined,
    after: undefined,
    received: [],
    onReceived: undefined,
    mempool: new Map(),
    elsewhere: undefined,
    head: () => blocks.length - 1,
    headBlock: () => ({ number: blocks.length - 1, hash: blocks.at(-1)!.hash }),
    used: () => usedIn(blocks),
    minedTransactions: () => blocks.flatMap(({ transactions }) => transactions),
    mine(limit = 1_000) {
      const taken: SentTransaction[] = []
      for (let nonce = node.used(); taken.length < limit; nonce += 1) {
        const next = node.elsewhere?.(nonce) ?? node.mempool.get(nonce)
        if (next === undefined || next.maxFeeWei < node.baseFeeWei) break
        node.mempool.delete(nonce)
        taken.push(next)
      }
      addBlock(taken)
    },
    reorg(depth, mode) {
      const left = blocks.slice(-depth)
      blocks = blocks.slice(0, -depth)
      const gone = left.flatMap(({ transactions }) => transactions)
      if (mode === 'remine') for (const one of gone) if (!node.mempool.has(one.nonce)) node.mempool.set(one.nonce, one)
      for (let i = 0; i <= left.length; i += 1) addBlock([])
    },
    useElsewhere(nonce = node.used()) {
      foreign += 1
      node.mempool.set(nonce, foreignTransaction(foreign, nonce, account))
      if (nonce === node.used()) node.mine(1)
    },
    snapshot() {
      const [kept, baseFeeWei, balanceWei, pending] = [blocks, node.baseFeeWei, node.balanceWei, new Map(node.mempool)]
      return (call) => read(call, { account, blocks: kept, baseFeeWei, balanceWei, mempool: pending })
    },
  }
  addBlock([])

  function addBlock(transactions: readonly SentTransaction[]): void {
    made += 1
    blocks = [...blocks, { hash: keccak256(toHex(`block ${made}`)) as Hex, transactions }]
  }

  function answerAll(calls: readonly RpcCall[]): RpcOutcome[] {
    node.before?.()
    const outcomes = calls.map((call) => {
      const truth =
        call.method === 'eth_sendRawTransaction'
          ? send(node, parseSent(call.params[0] as Hex))
          : read(call, { ...node, account, blocks })
      return node.lie?.(call, truth) ?? truth
    })
    node.after?.()
    return outcomes
  }

  return node
}

function send(node: FakeRelayNode, sent: SentTransaction): RpcOutcome {
  node.received.push(sent)
  node.onReceived?.(sent)
  const other = node.mempool.get(sent.nonce)
  if (other?.hash === sent.hash) return refusal('already known')
  if (sent.nonce < node.used()) return refusal('nonce too low')
  if (sent.gas * sent.maxFeeWei > node.balanceWei) return refusal('insufficient funds for gas * price + value')
  const isBetter = (ours: bigint, theirs = 0n): boolean => ours * 10n >= theirs * 11n
  if (!isBetter(sent.maxFeeWei, other?.maxFeeWei) || !isBetter(sent.tipWei, other?.tipWei)) {
    return refusal('replacement transaction underpriced')
  }
  node.mempool.set(sent.nonce, sent)
  return { ok: true, result: sent.hash }
}

function foreignTransaction(number: number, nonce: number, account: Address): SentTransaction {
  const hash = keccak256(toHex(`foreign ${number}`)) as Hex
  const fees = { gas: 21_000n, maxFeeWei: 10n ** 12n, tipWei: 10n ** 9n }
  return { hash, raw: '0x' as Hex, nonce, to: account, data: '0xf0' as Hex, value: 1n, ...fees }
}

/** The state that reads are answered from. */
interface FakeView {
  readonly account: Address
  readonly blocks: readonly FakeBlock[]
  readonly baseFeeWei: bigint
  readonly balanceWei: bigint
  readonly mempool: ReadonlyMap<number, SentTransaction>
}

function read({ method, params }: RpcCall, of: FakeView): RpcOutcome {
  const ok = (result: unknown): RpcOutcome => ({ ok: true, result })
  if (method === 'eth_blockNumber') return ok(numberToHex(of.blocks.length - 1))
  if (method === 'eth_gasPrice') return ok(numberToHex(of.baseFeeWei))
  if (method === 'eth_getBalance') return ok(numberToHex(of.balanceWei))
  if (method === 'eth_feeHistory') return ok({ baseFeePerGas: [numberToHex(of.baseFeeWei)], reward: [['0x64']] })
  if (method === 'eth_getTransactionReceipt') return ok(receiptIn(of.blocks, params[0] as Hex))
  if (method === 'eth_getBlockByNumber') return ok(blockJson(of.blocks, Number(params[0]), of.account))
  if (method === 'eth_getTransactionCount') return ok(numberToHex(countAt(of, String(params[1]))))
  return refusal(`the method ${method} does not exist`)
}

function countAt({ blocks, mempool }: FakeView, tag: string): number {
  if (tag.startsWith('0x')) return usedIn(blocks.slice(0, Number(tag) + 1))
  let count = usedIn(blocks)
  if (tag === 'pending') while (mempool.has(count)) count += 1
  return count
}

function usedIn(blocks: readonly FakeBlock[]): number {
  return blocks.reduce((count, { transactions }) => count + transactions.length, 0)
}

function refusal(message: string): RpcOutcome {
  return { ok: false, code: -32000, message, data: undefined }
}

function parseSent(raw: Hex): SentTransaction {
  const parsed = parseTransaction(raw as `0x02${string}`)
  return {
    raw,
    hash: keccak256(raw) as Hex,
    nonce: parsed.nonce ?? 0,
    to: parsed.to ?? '0x',
    data: (parsed.data ?? '0x') as Hex,
    value: parsed.value ?? 0n,
    gas: parsed.gas ?? 0n,
    maxFeeWei: parsed.maxFeePerGas ?? 0n,
    tipWei: parsed.maxPriorityFeePerGas ?? 0n,
  }
}

function receiptIn(blocks: readonly FakeBlock[], hash: Hex): unknown {
  for (const [number, block] of blocks.entries()) {
    const index = block.transactions.findIndex((transaction) => transaction.hash === hash)
    if (index === -1) continue
    return {
      transactionHash: hash,
      blockHash: block.hash,
      blockNumber: numberToHex(number),
      transactionIndex: numberToHex(index),
      status: '0x1',
      gasUsed: numberToHex(GAS_USED),
      effectiveGasPrice: numberToHex(block.transactions[index]!.maxFeeWei),
    }
  }
  return null
}

function blockJson(blocks: readonly FakeBlock[], number: number, account: Address): unknown {
  const block = blocks[number]
  if (block === undefined) return null
  return {
    number: numberToHex(number),
    hash: block.hash,
    parentHash: blocks[number - 1]?.hash ?? `0x${'00'.repeat(32)}`,
    timestamp: numberToHex(1_800_000_000 + number),
    logsBloom: `0x${'00'.repeat(256)}`,
    transactions: block.transactions.map(({ hash, nonce, to, data }) => ({
      hash,
      nonce: numberToHex(nonce),
      from: account,
      to,
      input: data,
    })),
  }
}
