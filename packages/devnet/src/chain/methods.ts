import type { Hex } from 'viem'
import {
  resultAnswer,
  RPC_CODES,
  RpcError,
  invalidParams,
  parseQuantity,
  toQuantity,
  isErrorAnswer,
  resultText,
} from './jsonRpc.ts'
import { type ChainState, mineBlock } from './chainState.ts'
import { reorg, reorgFrom, type ReorgMode } from './reorg.ts'
import { revertToUserSnapshot, takeUserSnapshot } from './rewind.ts'
import type { NodeBlock } from './block.ts'
import type { EdrProvider } from './edrProvider.ts'

/** A method that is answered here instead of by EDR. Returns the answer text. */
type ChainMethod = (state: ChainState, params: readonly unknown[]) => Promise<string>

/** Limit of blocks mined by one call. More would block the chain for seconds. */
const MAX_BLOCKS_PER_CALL = 10_000

const HASH_LENGTH = 66

/** The methods by name. All others go to EDR unchanged. */
export const CHAIN_METHODS: ReadonlyMap<string, ChainMethod> = new Map<string, ChainMethod>([
  ['eth_sendRawTransaction', (state, [raw]) => state.mempool.send(raw)],
  ['eth_getTransactionCount', transactionCount],
  ['eth_getBlockReceipts', (state, [blockId]) => blockReceipts(state.edr, blockId)],
  ['txpool_status', answering((state) => txpoolStatus(state.edr))],
  ['txpool_content', answering((state) => txpoolContent(state.edr))],
  ['net_listening', answering(async () => true)],
  ['net_peerCount', answering(async () => '0x0')],
  ['evm_mine', answering(mineOne)],
  ['hardhat_mine', answering(mineMany)],
  ['evm_increaseTime', answering(increaseTime)],
  ['evm_setNextBlockTimestamp', answering(setNextBlockTimestamp)],
  ['evm_snapshot', answering(takeUserSnapshot)],
  [
    'evm_revert',
    answering((state, [id]) => revertToUserSnapshot(state, toQuantity(parseQuantity(id, 'the snapshot id')))),
  ],
  ['hardhat_dropTransaction', answering(dropTransaction)],
  [
    'bezel_reorg',
    answering((state, [depth, mode = 'drop']) => reorg(state, parseQuantity(depth, 'depth'), mode as ReorgMode)),
  ],
  [
    'bezel_reorgFrom',
    answering((state, [first, mode = 'drop']) =>
      reorgFrom(state, parseQuantity(first, 'the first block'), mode as ReorgMode),
    ),
  ],
  ...[
    'hardhat_setBalance',
    'hardhat_setCode',
    'hardhat_setNonce',
    'hardhat_setStorageAt',
    'hardhat_setCoinbase',
    'hardhat_setNextBlockBaseFeePerGas',
    'hardhat_setPrevRandao',
    'evm_setBlockGasLimit',
  ].map((method) => [method, stateSetter(method)] as const),
  ...['evm_setAutomine', 'evm_setIntervalMining', 'hardhat_reset'].map(
    (method) => [method, refusing(`${method} is not served: the chain mines by its own timer`)] as const,
  ),
  ...['eth_sendTransaction', 'eth_sign', 'eth_signTransaction', 'eth_signTypedData_v4', 'personal_sign'].map(
    (method) =>
      [
        method,
        refusing(`${method} is not served: this node holds no keys, sign and use eth_sendRawTransaction`),
      ] as const,
  ),
  ...['eth_subscribe', 'eth_unsubscribe'].map(
    (method) => [method, refusing(`${method} is not served here: subscriptions need a WebSocket`)] as const,
  ),
])

function answering(method: (state: ChainState, params: readonly unknown[]) => Promise<unknown>): ChainMethod {
  return async (state, params) => resultAnswer(await method(state, params))
}

function refusing(message: string): ChainMethod {
  return async () => {
    throw new RpcError(RPC_CODES.methodNotFound, message)
  }
}

function stateSetter(method: string): ChainMethod {
  return answering((state, params) =>
    state.exclusive.run(async () => {
      const result = await state.edr.call(method, params)
      state.history.cheats.push({ method, params })
      return result
    }),
  )
}

async function mineOne(state: ChainState, [timestampS]: readonly unknown[]): Promise<string> {
  await state.exclusive.run(async () => {
    if (timestampS !== undefined) state.clock.setNext(parseQuantity(timestampS, 'the timestamp'), state.head.timestampS)
    await mineBlock(state)
  })
  return '0'
}

async function mineMany(state: ChainState, [blocks = 1, intervalS = 0]: readonly unknown[]): Promise<boolean> {
  const count = parseQuantity(blocks, 'the number of blocks')
  const gapS = parseQuantity(intervalS, 'the interval')
  if (count > MAX_BLOCKS_PER_CALL) throw invalidParams(`at most ${MAX_BLOCKS_PER_CALL} blocks per call`)
  await state.exclusive.run(async () => {
    for (let mined = 0; mined < count; mined += 1) {
      if (mined > 0) state.clock.increase(gapS)
      await mineBlock(state)
    }
  })
  return true
}

async function increaseTime(state: ChainState, [seconds]: readonly unknown[]): Promise<Hex> {
  const offsetS = state.clock.increase(parseQuantity(seconds, 'the number of seconds'))
  return toQuantity(offsetS)
}

async function setNextBlockTimestamp(state: ChainState, [timestamp]: readonly unknown[]): Promise<string> {
  const timestampS = parseQuantity(timestamp, 'the timestamp')
  state.clock.setNext(timestampS, state.head.timestampS)
  return String(timestampS)
}

function dropTransaction(state: ChainState, [hash]: readonly unknown[]): Promise<boolean> {
  return state.exclusive.run(async () => {
    const dropped = await state.edr.call<boolean>('hardhat_dropTransaction', [hash])
    if (dropped) state.mempool.forget(hash as Hex)
    return dropped
  })
}

/**
 * Answers eth_getTransactionCount. EDR counts with "pending" by executing everything that waits, which takes longer
 * than all the rest of sending a transaction; counting the waiting nonces gives the same.
 */
async function transactionCount({ edr, mempool }: ChainState, params: readonly unknown[]): Promise<string> {
  const [address, block] = params
  const count = (ours: readonly unknown[]): Promise<string> =>
    edr.send(JSON.stringify({ method: 'eth_getTransactionCount', params: ours }))
  if (block !== 'pending' || typeof address !== 'string') return count(params)
  if (mempool.list().length === 0) return count([address, 'latest'])
  // The list comes first: a transaction that is mined before the second answer is then in both, not in neither.
  const waiting = await edr.call<PooledTransaction[]>('eth_pendingTransactions')
  const answer = await count([address, 'latest'])
  if (isErrorAnswer(answer)) return answer
  const own = waiting.filter(({ from }) => from.toLowerCase() === address.toLowerCase())
  const nonces = new Set(own.map(({ nonce }) => Number(nonce)))
  let next = Number(JSON.parse(resultText(answer)))
  while (nonces.has(next)) next += 1
  return resultAnswer(toQuantity(next))
}

/**
 * Answers eth_getBlockReceipts, which EDR lacks, by asking for the receipts of a block one by one. Returns the answer
 * text.
 */
async function blockReceipts(edr: EdrProvider, blockId: unknown): Promise<string> {
  const block = await findBlock(edr, blockId)
  if (block === null) return '{"result":null}'
  const answers = await Promise.all(block.transactions.map((hash) => edr.send(receiptRequest(hash))))
  const failed = answers.find((answer) => isErrorAnswer(answer))
  if (failed !== undefined) return failed
  const receipts = answers.map(resultText)
  // The block was replaced between the two questions.
  if (receipts.includes('null')) return '{"result":null}'
  return `{"result":[${receipts.join(',')}]}`
}

function receiptRequest(hash: string): string {
  return `{"method":"eth_getTransactionReceipt","params":["${hash}"]}`
}

function findBlock(edr: EdrProvider, blockId: unknown): Promise<NodeBlock | null> {
  const { blockHash, blockNumber } = Object(blockId) as { blockHash?: unknown; blockNumber?: unknown }
  const id = blockHash ?? blockNumber ?? blockId
  const method = typeof id === 'string' && id.length === HASH_LENGTH ? 'eth_getBlockByHash' : 'eth_getBlockByNumber'
  return edr.call<NodeBlock | null>(method, [id, false])
}

interface PooledTransaction {
  from: Hex
  nonce: Hex
}

/** Transactions by sender and nonce, in the form of geth's txpool_content. */
type BySender = Record<Hex, Record<string, PooledTransaction>>

/** The waiting transactions: `pending` fit into the next block, `queued` wait for an earlier nonce. */
interface TxpoolContent {
  pending: BySender
  queued: BySender
}

/** Answers txpool_content, which EDR lacks. */
async function txpoolContent(edr: EdrProvider): Promise<TxpoolContent> {
  const waiting = await edr.call<PooledTransaction[]>('eth_pendingTransactions')
  const content: TxpoolContent = { pending: {}, queued: {} }
  const bySender = Map.groupBy(waiting, ({ from }) => from)
  for (const [sender, transactions] of bySender) {
    let next = Number(await edr.call<Hex>('eth_getTransactionCount', [sender, 'latest']))
    for (const transaction of transactions.toSorted((a, b) => Number(a.nonce) - Number(b.nonce))) {
      const nonce = Number(transaction.nonce)
      const place = nonce === next ? content.pending : content.queued
      if (nonce === next) next += 1
      ;(place[sender] ??= {})[nonce] = transaction
    }
  }
  return content
}

/** Answers txpool_status with the number of each. */
async function txpoolStatus(edr: EdrProvider): Promise<{ pending: Hex; queued: Hex }> {
  const { pending, queued } = await txpoolContent(edr)
  return { pending: countAll(pending), queued: countAll(queued) }
}

function countAll(bySender: BySender): Hex {
  return toQuantity(Object.values(bySender).reduce((sum, byNonce) => sum + Object.keys(byNonce).length, 0))
}
