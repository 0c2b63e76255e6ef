import { errorAnswer, parseAnswer } from './answer.ts'
import type { MinedBlock } from './block.ts'
import { createChainClock } from './chainClock.ts'
import type { ChainState } from './chainState.ts'
import { createEdrProvider } from './edrProvider.ts'
import { createExclusive } from './exclusive.ts'
import { createHistory } from './history.ts'
import { createListeners } from './listeners.ts'
import type { Unsubscribe } from './listeners.ts'
import { createMempool } from './mempool.ts'
import { CHAIN_METHODS } from './methods.ts'
import { mineBlock } from './mineBlock.ts'
import { createMiningTimer } from './miningTimer.ts'
import type { Hex } from './quantity.ts'
import type { GenesisAccount } from './rawProvider.ts'
import { reorg } from './reorg.ts'
import type { ReorgMode, ReorgSummary } from './reorg.ts'
import { loadHead } from './rewind.ts'
import { invalidParams } from './rpcError.ts'

export const DEFAULT_BLOCK_MS = 250

export interface LocalChainOptions {
  /** The name in the RPC path, e.g. `arbitrum-sepolia`. */
  slug: string
  chainId: number
  /** Milliseconds between blocks; 0 mines only on demand. */
  blockMs?: number
  /** Accounts with native balance at genesis. */
  accounts: readonly GenesisAccount[]
  /** Wall time in milliseconds. */
  now?: () => number
  /** Told of faults that no caller waits for: a listener that threw, a block that could not be mined. */
  report?: (error: unknown) => void
}

/** A chain of its own in this process. */
export interface LocalChain {
  readonly slug: string
  readonly chainId: number
  /** One JSON-RPC call; throws RpcError. */
  request<T = unknown>(method: string, params?: readonly unknown[]): Promise<T>
  /** One JSON-RPC call as answer text (answer.ts); never throws. `requestText` is the request as it came, if it is at hand. */
  answer(method: string, params: readonly unknown[], requestText?: string): Promise<string>
  /** Each new head in order, from the next one on. Listeners are called at once and not waited for. */
  onBlock(listener: (block: MinedBlock) => void): Unsubscribe
  /** The hash of each transaction that came to wait for a block. */
  onPendingTransaction(listener: (hash: Hex) => void): Unsubscribe
  head(): MinedBlock
  /** Mines a block now, whatever the timer does. */
  mine(): Promise<MinedBlock>
  reorg(depth: number, mode: ReorgMode): Promise<ReorgSummary>
  /** Starts mining by the timer. */
  start(): void
  /** Stops the timer and waits for what is under way. */
  stop(): Promise<void>
}

/** Makes a fresh chain. Nothing is mined by itself before start(). */
export async function createLocalChain(options: LocalChainOptions): Promise<LocalChain> {
  const { slug, chainId, accounts, blockMs = DEFAULT_BLOCK_MS, now = Date.now, report = console.error } = options
  const edr = await createEdrProvider({ chainId, accounts, genesisTimeS: Math.floor(now() / 1000) })
  const pendingListeners = createListeners<Hex>(report)
  const state: ChainState = {
    edr,
    clock: createChainClock(now),
    mempool: createMempool(edr, pendingListeners),
    history: createHistory(),
    exclusive: createExclusive(),
    blockListeners: createListeners<MinedBlock>(report),
    head: await loadHead({ edr }),
    rewinds: 0,
    userSnapshots: 0,
  }
  const mine = (): Promise<MinedBlock> => state.exclusive.run(() => mineBlock(state))
  const timer = createMiningTimer(blockMs, mine, report)
  const answer: LocalChain['answer'] = (method, params, requestText) =>
    answerRequest(state, method, params, requestText)
  return {
    slug,
    chainId,
    answer,
    request: async <T>(method: string, params: readonly unknown[] = []) =>
      parseAnswer(await answer(method, params)) as T,
    onBlock: state.blockListeners.add,
    onPendingTransaction: pendingListeners.add,
    head: () => state.head,
    mine,
    reorg: (depth, mode) => reorg(state, depth, mode),
    start: timer.start,
    async stop() {
      timer.stop()
      await state.exclusive.idle()
    },
  }
}

async function answerRequest(
  state: ChainState,
  method: string,
  params: readonly unknown[],
  requestText: string | undefined,
): Promise<string> {
  for (let closed = state.exclusive.closed(); closed !== undefined; closed = state.exclusive.closed()) await closed
  try {
    const ours = CHAIN_METHODS.get(method)
    if (ours !== undefined) return await ours(state, params)
    return await state.edr.send(requestText ?? JSON.stringify({ method, params }))
  } catch (error) {
    // What JSON.stringify throws for params nested too deep.
    return errorAnswer(error instanceof RangeError ? invalidParams('params are nested too deep') : error)
  }
}
