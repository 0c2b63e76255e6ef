import { diamondAbi, PendingOrderType, TradeType } from '@bezel/protocol'
import { erc20Abi, parseEventLogs, type Abi, type AbiEvent, type Address, type Hex, type Log } from 'viem'
import type { ChainClient } from './chainClient.ts'

/** The part of a chain's client that the witness uses. */
export type WitnessedChain = Pick<ChainClient, 'client' | 'diamond' | 'collateral'>

/** A collateral token, and the vault of the Diamond that pays its profits. */
export interface WitnessedToken {
  readonly symbol: string
  readonly decimals: number
  readonly address: Address
  readonly vault: Address
}

/** Tokens of one collateral that the Diamond and its vaults moved for one trader, in units of the token. */
export interface TokenMoves {
  readonly taken: bigint
  readonly paid: bigint
}

/** Tokens of one collateral that the chain says of one trader, in units of the token. */
export interface TokenWitness extends TokenMoves {
  /** Collateral that the Diamond holds for resting orders and for requests to open. */
  readonly held: bigint
}

/** The part of a log that the witness reads. */
export type WitnessedLog = Pick<Log, 'address' | 'data' | 'topics' | 'transactionHash'>

/**
 * The Diamond's events of trading, each with its trader as `trader` or `user`. A transfer in a transaction without one
 * of them is no trading: the faucet, a claim of rewards, a deposit into a vault.
 */
const TRADING_EVENTS = [
  'MarketOrderInitiated',
  'OpenOrderPlaced',
  'OpenLimitCanceled',
  'CollateralReturnedAfterTimeout',
  'LeverageUpdateInitiated',
  'PositionSizeUpdateInitiated',
  'PositivePnlWithdrawalInitiated',
  'MarketExecuted',
  'LimitExecuted',
  'MarketOpenCanceled',
  'MarketCloseCanceled',
  'LeverageUpdateExecuted',
  'PositionSizeIncreaseExecuted',
  'PositionSizeDecreaseExecuted',
  'TradePositivePnlWithdrawn',
  'CounterTradeCollateralReturned',
] as const

/** These events alone, because the topics of an ABI are hashed anew with each search. */
const TRADING_ABI = diamondAbi.filter(
  (item): item is TradingEvent => item.type === 'event' && (TRADING_EVENTS as readonly string[]).includes(item.name),
)
type TradingEvent = Extract<(typeof diamondAbi)[number], { type: 'event'; name: (typeof TRADING_EVENTS)[number] }>

/** Blocks of one request, because clients refuse answers of many megabytes. */
const BLOCKS_AT_ONCE = 1_000n

/** Reads the collaterals with these symbols and their vaults. */
export async function readWitnessedTokens(
  { client, diamond, collateral }: WitnessedChain,
  symbols: readonly string[],
): Promise<WitnessedToken[]> {
  return Promise.all(
    symbols.map(async (symbol) => {
      const { index, decimals, address } = collateral(symbol)
      const request = { address: diamond, abi: diamondAbi, functionName: 'getGToken', args: [index] } as const
      return { symbol, decimals, address, vault: await client.readContract(request) }
    }),
  )
}

/**
 * Reads the transfers of the tokens and the Diamond's events of trading, in the order of the chain, from a block on.
 * Default: from the first.
 */
export async function readWitnessedLogs(
  { client, diamond }: WitnessedChain,
  tokens: readonly WitnessedToken[],
  firstBlock = 0n,
): Promise<WitnessedLog[]> {
  const address = [diamond, ...tokens.map((token) => token.address)]
  const names = new Set<string>([...TRADING_EVENTS, 'Transfer'])
  const abi: Abi = [...diamondAbi, ...erc20Abi]
  const events = abi.filter((item) => item.type === 'event' && names.has(item.name)) as AbiEvent[]
  const head = await client.getBlockNumber()
  const logs: WitnessedLog[] = []
  for (let fromBlock = firstBlock; fromBlock <= head; fromBlock += BLOCKS_AT_ONCE) {
    logs.push(...(await client.getLogs({ address, events, fromBlock, toBlock: fromBlock + BLOCKS_AT_ONCE - 1n })))
  }
  return logs
}

/**
 * Adds up what the Diamond and its vault took from a trader and paid to it, by the token's own Transfer logs. Native
 * coin that the Diamond wraps for a trader leaves no such log, so trades paid that way are not witnessed.
 */
export function tokenMoves(
  logs: readonly WitnessedLog[],
  of: { readonly diamond: Address; readonly trader: Address; readonly token: WitnessedToken },
): TokenMoves {
  const { diamond, trader, token } = of
  const own = logs.filter((log) => mentions(log, trader))
  const hashes = tradingTransactions(own, diamond, trader)
  const houses = new Set([diamond.toLowerCase(), token.vault.toLowerCase()])
  const moves = { taken: 0n, paid: 0n }
  const traded = own.filter(
    ({ address, transactionHash }) => isSame(address, token.address) && hashes.has(transactionHash),
  )
  for (const { args } of parseEventLogs({ abi: erc20Abi, logs: traded as Log[], eventName: 'Transfer' })) {
    const { from, to, value } = args
    if (isSame(from, trader) && houses.has(to.toLowerCase())) moves.taken += value
    if (isSame(to, trader) && houses.has(from.toLowerCase())) moves.paid += value
  }
  return moves
}

function tradingTransactions(logs: readonly WitnessedLog[], diamond: Address, trader: Address): Set<Hex | null> {
  const own = logs.filter(({ address }) => isSame(address, diamond))
  const events = parseEventLogs({ abi: TRADING_ABI, logs: own as Log[] })
  const traded = events.filter(({ args }) => isSame('trader' in args ? args.trader : args.user, trader))
  return new Set(traded.map(({ transactionHash }) => transactionHash))
}

/** True when an address stands in a log. Only such logs are decoded, because that is slow. */
function mentions({ topics, data }: WitnessedLog, address: Address): boolean {
  const digits = address.slice(2).toLowerCase()
  return topics.some((topic) => topic.endsWith(digits)) || data.includes(digits)
}

/**
 * Reads the collateral that the Diamond holds for a trader's resting orders and requests to open, by its own views.
 * Default: at the latest block.
 */
export async function readHeldByOrders(
  { client, diamond, collateral }: WitnessedChain,
  trader: Address,
  symbol: string,
  blockNumber?: bigint,
): Promise<bigint> {
  const at = blockNumber === undefined ? {} : { blockNumber }
  const request = { address: diamond, abi: diamondAbi, args: [trader], ...at } as const
  const [trades, requests] = await Promise.all([
    client.readContract({ ...request, functionName: 'getTrades' }),
    client.readContract({ ...request, functionName: 'getPendingOrders' }),
  ])
  const resting = trades.filter(({ tradeType }) => tradeType !== TradeType.TRADE)
  const opening = requests.flatMap(({ orderType, trade }) =>
    orderType === PendingOrderType.MARKET_OPEN ? [trade] : [],
  )
  const { index } = collateral(symbol)
  return [...resting, ...opening].reduce(
    (sum, { collateralIndex, collateralAmount }) => (collateralIndex === index ? sum + collateralAmount : sum),
    0n,
  )
}

function isSame(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase()
}
