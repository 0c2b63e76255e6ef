import type { Hex } from 'viem'
import {
  type Provider,
  ContractDecoder,
  EdrContext,
  L1_CHAIN_TYPE,
  MineOrdering,
  PRAGUE,
  SpecId,
  l1GenesisState,
  l1ProviderFactory,
  type ProviderConfig,
} from '@nomicfoundation/edr'
import { errorAnswer, isErrorAnswer, parseAnswer, RPC_CODES, RpcError } from './jsonRpc.ts'

/** An EDR chain behind a JSON text interface. */
export interface EdrProvider {
  /** Sends a caller's request as text and returns the answer as text. Waits its turn; errors have geth's words. */
  send(requestText: string): Promise<string>
  /**
   * Makes a request of the chain itself: the result is parsed, errors are thrown as RpcError, and it never waits behind
   * callers.
   */
  call<T = unknown>(method: string, params?: readonly unknown[]): Promise<T>
  /** Resolves when no caller's request is under way or waiting. */
  idle(): Promise<void>
}

export interface GenesisAccount {
  address: Hex
  balanceWei: bigint
  /** Code of a contract that is there from the start. */
  code?: Hex
}

interface RawProviderOptions {
  chainId: number
  genesisTimeS: number
  accounts: readonly GenesisAccount[]
}

// EDR has one lock per chain: a second request in flight hides the round trip, and a third would only wait inside.
const MAX_CALLERS_PER_CHAIN = 2

// EDR uses a thread for every request in flight, and each costs about 15 MB that are never freed. One pool serves all
// chains.
const MAX_REQUESTS_IN_FLIGHT = 2

const inFlight = createInFlightLimit(MAX_REQUESTS_IN_FLIGHT)

const BLOCK_GAS_LIMIT = 1_000_000_000n

/** Base fee: Arbitrum's minimum. It hardly moves, see BASE_FEE_CHANGE_DENOMINATOR. */
const BASE_FEE_WEI = 10_000_000n

// With the usual 8, empty blocks would lower the base fee to 7 wei within a minute, which no live chain has.
const BASE_FEE_CHANGE_DENOMINATOR = 1_000_000_000_000n

const COINBASE = '0xc0ffee0000000000000000000000000000000000'

// EDR allows one context per process.
let sharedContext: Promise<EdrContext> | undefined

/** Creates a chain. */
export async function createEdrProvider(options: RawProviderOptions): Promise<EdrProvider> {
  const provider = await createRawProvider(options)
  const callers = createInFlightLimit(MAX_CALLERS_PER_CHAIN)
  return {
    send: (requestText) => callers.run(() => inFlight.run(() => handle(provider, requestText))),
    idle: callers.idle,
    async call<T>(method: string, params: readonly unknown[] = []) {
      const requestText = JSON.stringify({ method, params })
      return parseAnswer(await inFlight.runNext(() => handle(provider, requestText))) as T
    },
  }
}

async function handle(provider: Provider, requestText: string): Promise<string> {
  const data: unknown = (await provider.handleRequest(requestText)).data
  // EDR returns an object instead of text only for answers that are longer than a string can be.
  if (typeof data !== 'string') return errorAnswer(new Error('the answer is too large'))
  if (!isErrorAnswer(data)) return data
  return errorAnswer(wordError((JSON.parse(data) as { error: EdrError }).error))
}

/** Creates a chain in the process-wide EDR context, with EDR's own interface. */
export async function createRawProvider(options: RawProviderOptions): Promise<Provider> {
  sharedContext ??= createContext()
  const context = await sharedContext
  const logger = { enable: false, decodeConsoleLogInputsCallback: () => [], printLineCallback: () => undefined }
  const subscriptions = { subscriptionCallback: () => undefined }
  return context.createProvider(L1_CHAIN_TYPE, toConfig(options), logger, subscriptions, new ContractDecoder())
}

async function createContext(): Promise<EdrContext> {
  const context = new EdrContext()
  await context.registerProviderFactory(L1_CHAIN_TYPE, l1ProviderFactory())
  return context
}

function toConfig({ chainId, genesisTimeS, accounts }: RawProviderOptions): ProviderConfig {
  const genesisAccounts = accounts.map(({ address, balanceWei, code }) => ({
    address: toBytes(address),
    balance: balanceWei,
    ...(code !== undefined && { code: toBytes(code) }),
  }))
  return {
    chainId: BigInt(chainId),
    networkId: BigInt(chainId),
    hardfork: PRAGUE,
    genesisState: [...l1GenesisState(SpecId.Prague), ...genesisAccounts],
    network: { genesisBlockGasLimit: BLOCK_GAS_LIMIT, genesisBlockTime: BigInt(genesisTimeS) },
    mining: { autoMine: false, blockGasLimit: BLOCK_GAS_LIMIT, memPool: { order: MineOrdering.Fifo } },
    initialBaseFeePerGas: BASE_FEE_WEI,
    baseFeeConfig: [
      { activation: { blockNumber: 0n }, maxChangeDenominator: BASE_FEE_CHANGE_DENOMINATOR, elasticityMultiplier: 2n },
    ],
    initialParentBeaconBlockRoot: new Uint8Array(32),
    minGasPrice: 0n,
    defaultTransactionGasLimit: BLOCK_GAS_LIMIT,
    transactionGasCap: false,
    allowBlocksWithSameTimestamp: true,
    allowUnlimitedContractSize: false,
    bailOnCallFailure: true,
    bailOnTransactionFailure: false,
    coinbase: toBytes(COINBASE),
    observability: {},
    ownedAccounts: [],
    precompileOverrides: [],
  }
}

function toBytes(hex: Hex): Uint8Array {
  return Uint8Array.from(Buffer.from(hex.slice(2), 'hex'))
}

interface InFlightLimit {
  /** Runs the job, after a wait if too many are under way. */
  run<T>(job: () => Promise<T>): Promise<T>
  /** Runs the job before all that wait. */
  runNext<T>(job: () => Promise<T>): Promise<T>
  /** Resolves when nothing runs and nothing waits. */
  idle(): Promise<void>
}

/** Creates a limit of `limit` jobs at once; the others wait in order. */
export function createInFlightLimit(limit: number): InFlightLimit {
  let running = 0
  const waiting: (() => void)[] = []
  let idleWaiters: (() => void)[] = []

  function release(): void {
    running -= 1
    waiting.shift()?.()
    if (running > 0 || idleWaiters.length === 0) return
    idleWaiters.forEach((resolve) => resolve())
    idleWaiters = []
  }

  function start<T>(job: () => Promise<T>): Promise<T> {
    running += 1
    return job().finally(release)
  }

  return {
    run(job) {
      if (running < limit) return start(job)
      return new Promise((resolve) => waiting.push(() => resolve(start(job))))
    },
    runNext(job) {
      if (running < limit) return start(job)
      return new Promise((resolve) => waiting.unshift(() => resolve(start(job))))
    },
    idle: () => (running === 0 ? Promise.resolve() : new Promise((resolve) => idleWaiters.push(resolve))),
  }
}

/** The `error` member of an EDR answer. */
interface EdrError {
  code: number
  message: string
  data?: { reason?: unknown; data?: unknown } | null
}

const EDR_METHOD_NOT_SUPPORTED = -32004

// Wallet libraries recognise these failures by geth's words, so each EDR message is prefixed with them.
const GETH_WORDS: readonly (readonly [RegExp, string])[] = [
  [/doesn't have enough funds/, 'insufficient funds for gas * price + value'],
  [/^Known transaction/, 'already known'],
  [/nonce too low/, 'nonce too low'],
  [/^Replacement transaction underpriced/, 'replacement transaction underpriced'],
  [/requires at least \d+ gas/, 'intrinsic gas too low'],
  [/ran out of gas/, 'out of gas'],
]

/** Returns an EDR error with the code, the words and the revert data of geth. */
function wordError(error: EdrError): RpcError {
  if (error.code === EDR_METHOD_NOT_SUPPORTED) return methodNotFound(error.message)
  if (isRevert(error.data?.reason))
    return new RpcError(RPC_CODES.reverted, revertMessage(error.message), error.data?.data)
  return new RpcError(error.code, gethMessage(error.message))
}

function methodNotFound(message: string): RpcError {
  const method = /^Method (\S+) is not supported/.exec(message)?.[1] ?? ''
  return new RpcError(RPC_CODES.methodNotFound, `the method ${method} does not exist/is not available`)
}

function isRevert(reason: unknown): boolean {
  return typeof reason === 'object' && reason !== null && 'Revert' in reason
}

function revertMessage(message: string): string {
  const reason =
    /reverted with reason string '(.*)'$/s.exec(message)?.[1] ?? /reverted with (panic code .*)$/s.exec(message)?.[1]
  return reason === undefined ? 'execution reverted' : `execution reverted: ${reason}`
}

function gethMessage(message: string): string {
  const words = GETH_WORDS.find(([pattern]) => pattern.test(message))?.[1]
  return words === undefined ? message : `${words}: ${message}`
}
