import type { Hex } from 'viem'
import { errorAnswer, parseAnswer, invalidParams } from './jsonRpc.ts'
import { type MinedBlock, createListeners, type Unsubscribe } from './block.ts'
import { createChainClock } from './chainClock.ts'
import { type ChainState, mineBlock } from './chainState.ts'
import { createEdrProvider, type GenesisAccount } from './edrProvider.ts'
import { createExclusive } from './exclusive.ts'
import { createHistory } from './history.ts'
import { createMempool } from './mempool.ts'
import { CHAIN_METHODS } from './methods.ts'
import { reorg, type ReorgMode, type ReorgSummary } from './reorg.ts'
import { loadHead } from './rewind.ts'

const DEFAULT_BLOCK_MS = 250

export interface LocalChainOptions {
  /** Name in the RPC path, for instance `arbitrum-sepolia`. */
  slug: string
  chainId: number
  /** Milliseconds between blocks. Default 250; 0 mines on demand only. */
  blockMs?: number
  /** Accounts that have a native balance at genesis. */
  accounts: readonly GenesisAccount[]
  /** Wall time in milliseconds. Default `Date.now`. */
  now?: () => number
  /**
   * Called with faults that no caller waits for: a listener that threw, a block that could not be mined. Default
   * `console.error`.
   */
  report?: (error: unknown) => void
}

/** A chain that lives in this process. */
export interface LocalChain {
  readonly slug: string
  readonly chainId: number
  /** Makes one JSON-RPC call. Throws RpcError. */
  request<T = unknown>(method: string, params?: readonly unknown[]): Promise<T>
  /**
   * Makes one JSON-RPC call and returns the text of the answer (see jsonRpc.ts). Never throws. `requestText` is the
   * original request, if it is at hand.
   */
  answer(method: string, params: readonly unknown[], requestText?: string): Promise<string>
  /** Adds a listener for new heads, in order and from the next one on. It is called at once and not waited for. */
  onBlock(listener: (block: MinedBlock) => void): Unsubscribe
  /** Adds a listener for the hash of each transaction that begins to wait for a block. */
  onPendingTransaction(listener: (hash: Hex) => void): Unsubscribe
  /** Returns the latest block. */
  head(): MinedBlock
  /** Mines a block now, whatever the timer does. */
  mine(): Promise<MinedBlock>
  /** Replaces the last `depth` blocks. */
  reorg(depth: number, mode: ReorgMode): Promise<ReorgSummary>
  /** Starts mining on the timer. */
  start(): void
  /** Stops the timer and waits for what is under way. */
  stop(): Promise<void>
}

/** Creates a chain. Nothing is mined before `start`. */
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
    // JSON.stringify throws a RangeError for params that are nested too deep.
    return errorAnswer(error instanceof RangeError ? invalidParams('params are nested too deep') : error)
  }
}

interface MiningTimer {
  start(): void
  stop(): void
}

/** Calls `mine` every `blockMs`, never twice at once; a slow block delays the next one. With 0 it is never called. */
function createMiningTimer(
  blockMs: number,
  mine: () => Promise<unknown>,
  report: (error: unknown) => void,
): MiningTimer {
  let timeout: NodeJS.Timeout | undefined
  let running = false
  let dueMs = 0

  function schedule(): void {
    const nowMs = performance.now()
    dueMs = Math.max(dueMs + blockMs, nowMs)
    timeout = setTimeout(tick, dueMs - nowMs)
  }

  function tick(): void {
    mine()
      .catch(report)
      .finally(() => {
        if (running) schedule()
      })
  }

  return {
    start() {
      if (running || blockMs === 0) return
      running = true
      dueMs = performance.now()
      schedule()
    },
    stop() {
      running = false
      clearTimeout(timeout)
    },
  }
}
