import type { Answer } from '@bezel/testkit/agentClient.ts'
import type { ChainClient } from '@bezel/testkit/chainClient.ts'
import { authorize, createTradingClient, type TradingClient } from '@bezel/testkit/tradingClient.ts'
import { until } from '@bezel/testkit/until.ts'
import type { Position } from '@bezel/protocol'
import { createWalletClient, erc20Abi, http, keccak256, maxUint256, parseAbi, parseUnits, toHex } from 'viem'
import { privateKeyToAccount, type PrivateKeyAccount } from 'viem/accounts'
import { createSeededRandom, type SeededRandom } from '@bezel/testkit/seededRandom.ts'
import { readDiamond } from '../sizePromise/diamondWitness.ts'
import { startSizeWorld, type SizedMarket, type SizeWorld } from '../sizePromise/sizeWorld.ts'

/** The collaterals of the campaign: all of the chain, one of them with 6 decimals. */
export const SYMBOLS = ['USDC', 'DAI', 'WETH', 'GNS'] as const

/** A trader who is its own agent, so that it also acts on the chain directly. */
export interface BookedTrader {
  readonly account: PrivateKeyAccount
  readonly client: TradingClient
  readonly random: SeededRandom
  /**
   * Ids of positions that were asked to close with a tight slippage. It stays with them, and a take profit or stop loss
   * under it never executes.
   */
  readonly tight: Set<string>
}

/** Request to the service by a trader: operation, method, path and body. */
export type Asked = Parameters<TradingClient['request']>

/** A world of traders, with a count of everything that happened in it. */
export interface AccountingWorld extends SizeWorld {
  readonly traders: readonly BookedTrader[]
  readonly random: SeededRandom
  readonly counts: ReadonlyMap<string, number>
  /** Actions of all entries that the service has told, also of those that a reorganisation undid. */
  readonly told: Set<string>
  count(what: string): void
  /** Price of a market, as it was last set. */
  markOf(market: SizedMarket): number
  /** Moves every price to a multiple of the one around which its market is traded. */
  moveAll(level: (market: SizedMarket) => number): Promise<void>
  /** Sends a request, again when a kill of the service lost it. Returns `undefined` when it was refused. */
  ask(trader: BookedTrader, ...asked: Asked): Promise<Answer['body'] | undefined>
  /** Sends a request and broadcasts the prepared transaction. Returns false when there was none. */
  act(what: string, trader: BookedTrader, ...asked: Asked): Promise<boolean>
  /** Calls the Diamond directly; the service learns of it from the chain alone. */
  actOnChain(what: string, work: () => Promise<unknown>): Promise<void>
  positionsOf(trader: BookedTrader): Promise<Position[]>
  /** Waits until the oracle has answered every request. */
  settle(): Promise<void>
}

/** Tokens of the token that is given in small amounts to the traders of the local chain. */
const GNS_FOR_EACH = 100_000n * 10n ** 18n

/** Time for whatever a busy machine has to do. Ends a hanging test only. */
const PATIENCE_MS = 600_000

/** Waits for a condition as `until` does, with more patience. */
export function patient<Found>(
  what: string | (() => string),
  look: (saw: (value: unknown) => void) => Found | Promise<Found>,
): Promise<NonNullable<Found>> {
  return until(what, look, PATIENCE_MS)
}

export async function startAccountingWorld(seed: number, traderCount: number): Promise<AccountingWorld> {
  const world = await startSizeWorld()
  const random = createSeededRandom(seed)
  const counts = new Map<string, number>()
  const marks = new Map(world.markets.map(({ symbol, basePrice }) => [symbol, basePrice]))
  const count = (what: string): void => void counts.set(what, (counts.get(what) ?? 0) + 1)
  const traders = await fundedTraders(world, random, traderCount)

  async function ask({ client }: BookedTrader, ...asked: Asked): Promise<Answer['body'] | undefined> {
    const answer = await patient('the service answers', async () => {
      const found = await client.request(...asked).catch(() => undefined)
      const isAnswered = found !== undefined && found.status < 500
      if (!isAnswered) count('request lost')
      return isAnswered ? found : undefined
    })
    if (answer.status < 300) return answer.body
    const { code, details } = answer.body
    count(`refused ${asked[0]} ${code} ${details?.errorName ?? ''}`.trimEnd())
    return undefined
  }

  return {
    ...world,
    traders,
    random,
    counts,
    told: new Set(),
    count,
    markOf: ({ symbol }) => marks.get(symbol)!,
    async moveAll(level) {
      for (const market of world.markets) {
        const price = market.basePrice * level(market)
        await world.moveMark(market, price)
        marks.set(market.symbol, price)
      }
    },
    ask,
    async act(what, trader, ...asked) {
      const answer = await ask(trader, ...asked)
      if (answer?.transaction === undefined || answer.transaction === null) return false
      try {
        await trader.client.broadcast(answer.transaction)
      } catch {
        count(`not sent: ${what}`)
        return false
      }
      count(what)
      return true
    },
    async actOnChain(what, work) {
      const isDone = await work().then(
        () => true,
        () => false,
      )
      count(isDone ? what : `not sent: ${what}`)
    },
    async positionsOf(trader) {
      const path = `/account/${trader.account.address}/positions`
      return (await ask(trader, 'listPositions', 'GET', path))!.data as Position[]
    },
    async settle() {
      for (const { account } of traders) {
        await patient('the oracle has answered', async () => {
          const waiting: readonly unknown[] = await readDiamond(world.chain, 'getPendingOrders', [account.address])
          return waiting.length === 0
        })
      }
    },
  }
}

async function fundedTraders(world: SizeWorld, random: SeededRandom, traderCount: number): Promise<BookedTrader[]> {
  const traders: BookedTrader[] = []
  for (let place = 1; place <= traderCount; place += 1) {
    const account = await fundedAccount(world, place)
    await authorize(world, account, account)
    const client = await createTradingClient(world, account, account)
    traders.push({ account, client, random: random.stream(`trader ${place}`), tight: new Set() })
  }
  return traders
}

/** Returns one of the local chain's own traders, or an account that is given all that they have. */
async function fundedAccount({ chain, devnet }: SizeWorld, place: number): Promise<PrivateKeyAccount> {
  const name = `trader-${place}`
  const isListed = devnet.file.accounts.some((account) => account.name === name)
  const account = isListed ? chain.account(name) : privateKeyToAccount(keccak256(toHex(`accounting ${name}`)))
  const transport = http(devnet.file.chains['arbitrum-sepolia']!.rpcUrl)
  if (!isListed) {
    await chain.control('bezel_faucet', account.address)
    const wallet = createWalletClient({ account, transport })
    for (const symbol of SYMBOLS) {
      const { address } = chain.collateral(symbol)
      const args = [chain.diamond, maxUint256] as const
      const hash = await wallet.writeContract({ address, abi: erc20Abi, functionName: 'approve', args, chain: null })
      await chain.client.waitForTransactionReceipt({ hash })
    }
  }
  const deployer = createWalletClient({ account: chain.account('deployer'), transport })
  const { address } = chain.collateral('GNS')
  const abi = parseAbi(['function mint(address to, uint256 amount)'])
  const args = [account.address, GNS_FOR_EACH] as const
  const hash = await deployer.writeContract({ address, abi, functionName: 'mint', args, chain: null })
  await chain.client.waitForTransactionReceipt({ hash })
  return account
}

/** A trade as the chain lists it. */
interface ListedTrade {
  readonly index: number
  readonly pairIndex: number
  readonly collateralIndex: number
  readonly tradeType: number
  readonly long: boolean
  readonly leverage: number
  readonly collateralAmount: bigint
  readonly openPrice: bigint
}

/** Finds the trade of a position, whose index the service does not tell. */
export async function findTrade(
  chain: ChainClient,
  { trader, pairIndex, collateralSymbol, collateral, entryPrice }: Position,
): Promise<ListedTrade | undefined> {
  const { index, decimals } = chain.collateral(collateralSymbol)
  const trades: readonly ListedTrade[] = await readDiamond(chain, 'getTrades', [trader as `0x${string}`])
  return trades.find(
    (trade) =>
      trade.pairIndex === pairIndex &&
      trade.collateralIndex === index &&
      trade.collateralAmount === parseUnits(collateral, decimals) &&
      trade.openPrice === parseUnits(entryPrice, 10),
  )
}
