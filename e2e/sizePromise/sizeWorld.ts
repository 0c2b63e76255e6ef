import assert from 'node:assert/strict'
import { inspect } from 'node:util'
import { diamondAbi, type MarketRecord } from '@bezel/protocol'
import { call } from '@bezel/testkit/agentClient.ts'
import { patientHttp, tradeOf, type ChainClient } from '@bezel/testkit/chainClient.ts'
import { movePrice } from '@bezel/testkit/tradingWorld.ts'
import { until } from '@bezel/testkit/until.ts'
import { createWalletClient, parseAbi, parseEventLogs, parseUnits, type Address } from 'viem'
import { encodeConfigure } from '../../contracts/diamond.ts'
import { startFacadeWorld, type FacadeWorld } from '../facade/facadeWorld.ts'
import { readDiamond } from './diamondWitness.ts'

const CHAIN = '/v1/arbitrum-sepolia'

/** The markets of the orders, with a price around which they are traded. */
const MARKETS: Readonly<Record<string, number>> = {
  'BTC/USD': 60_000,
  'ETH/USD': 2_500,
  'SOL/USD': 120,
  'XRP/USD': 1.65,
  'DOGE/USD': 0.14,
  'EUR/USD': 1.16,
}

/** A market as orders see it. */
export interface SizedMarket {
  readonly symbol: string
  readonly pairIndex: number
  readonly basePrice: number
  readonly pricePrecision: number
  readonly sizePrecision: number
  readonly minLeverage: number
}

/** A trade of somebody else. */
interface Volume {
  readonly market: SizedMarket
  readonly long: boolean
  /** Scale 1e10. */
  readonly mark: bigint
}

/** A world with prices that stand still, other traders' volume, and a token whose price can be moved. */
export interface SizeWorld extends FacadeWorld {
  readonly markets: readonly SizedMarket[]
  /** Moves a price, and waits until the service shows it. Returns it in 1e10. */
  moveMark(market: SizedMarket, price: number): Promise<bigint>
  /** Opens a trade of another trader, directly on the chain, and waits for its execution. */
  addVolume(of: Volume, usd: number): Promise<void>
  /** Sets the USD price of a collateral's token on the chain. */
  setTokenPrice(symbol: string, usd: string): Promise<void>
  /** Gives a trader its own extra spread (1e3 per percent) and multiplier of the impact (1e3) in a market. */
  setTerms(trader: Address, market: SizedMarket, spreadP: number, multiplier: number): Promise<void>
  /** Lets the keeper trigger orders, or not: then an order rests for as long as a test needs. */
  pauseKeeper(isPaused: boolean): Promise<void>
  /**
   * Begins a window of volume, by moving the chain's time to it, and waits until the service knows of it. Returns the
   * number of its block: what is prepared before the window ends is judged by the Diamond's views at that block.
   */
  quietBlock(): Promise<bigint>
}

export async function startSizeWorld(): Promise<SizeWorld> {
  const world = await startFacadeWorld()
  const { chain } = world
  const markets = await readMarkets(world)
  for (const { symbol, basePrice } of markets) {
    await chain.control('bezel_sleepPrice', symbol, false)
    await chain.control('bezel_freezePrice', symbol, true)
    await chain.control('bezel_setMarketOpen', symbol, true)
    await world.setPrice(basePrice, symbol)
  }
  return {
    ...world,
    markets,
    async moveMark({ symbol, pricePrecision }, price) {
      const text = price.toFixed(pricePrecision)
      await movePrice(world, symbol, text)
      return parseUnits(text, 10)
    },
    addVolume: (of, usd) => addVolume(chain, of, usd),
    setTokenPrice: (symbol, usd) => setTokenPrice(world, symbol, usd),
    async setTerms(trader, { pairIndex }, fixedSpreadP, cumulVolPriceImpactMultiplier) {
      const terms = { cumulVolPriceImpactMultiplier, fixedSpreadP, __placeholder: 0n }
      const args = [trader, BigInt(pairIndex), terms]
      const data = encodeConfigure(await findConfigure(chain), 'setUserPriceImpact', args)
      const hash = await deployerOf(world).sendTransaction({ to: chain.diamond, data, chain: null })
      assert.equal((await chain.client.waitForTransactionReceipt({ hash })).status, 'success')
    },
    async pauseKeeper(isPaused) {
      await chain.control('bezel_pauseKeeper', isPaused)
    },
    async quietBlock() {
      const { timestamp } = await chain.client.getBlock()
      // The next window may begin before this is carried out; the one after it is a whole window away.
      await chain.control('evm_mine', (Math.floor(Number(timestamp) / WINDOW_S) + 2) * WINDOW_S)
      const { number } = await chain.client.getBlock()
      await until(`the service has block ${number}`, async (saw) => {
        const text = await (await fetch(`${world.url()}/metrics`)).text()
        const head = /^bezel_chain_head_block\{.*\} (\d+)$/m.exec(text)?.[1]
        saw(head)
        return Number(head) >= number!
      })
      return number!
    },
  }
}

/** Returns the wallet of the account that owns the local contracts. */
function deployerOf({ chain, devnet }: FacadeWorld) {
  const transport = patientHttp(devnet.file.chains['arbitrum-sepolia']!.rpcUrl)
  return createWalletClient({ account: chain.account('deployer'), transport })
}

/** Finds the contract by which the local Diamond was configured: every setting was a cut with that initializer. */
async function findConfigure({ client, diamond }: ChainClient): Promise<Address> {
  const logs = await client.getLogs({ address: diamond, fromBlock: 0n })
  const cuts = parseEventLogs({ abi: diamondAbi, logs, eventName: 'DiamondCut' })
  const { _init: configure } = cuts.findLast(({ args }) => BigInt(args['_init']) !== 0n)!.args
  return configure
}

async function addVolume(chain: ChainClient, { market, long, mark }: Volume, usd: number): Promise<void> {
  const whale = chain.account('trader-3')
  const { index, decimals } = chain.collateral('USDC')
  const leverage = Math.ceil(Math.max(5, market.minLeverage))
  const trade = {
    ...tradeOf(chain, whale.address, { price: 0n, long, leverage: leverage * 1_000 }),
    pairIndex: market.pairIndex,
    collateralIndex: index,
    collateralAmount: parseUnits(String(Math.round(usd / leverage)), decimals),
    openPrice: mark,
  }
  const asked = await chain.send(whale, 'openTrade', [trade, MAX_SLIPPAGE_P, whale.address])
  const [request] = parseEventLogs({ abi: diamondAbi, logs: asked, eventName: 'MarketOrderInitiated' })
  const { index: orderIndex } = request!.args.orderId
  const answer = await until(`the oracle answers request ${orderIndex} of ${whale.address}`, async () => {
    const logs = await chain.client.getLogs({ address: chain.diamond, fromBlock: request!.blockNumber })
    const answers = parseEventLogs({ abi: diamondAbi, logs, eventName: ['MarketExecuted', 'MarketOpenCanceled'] })
    return answers.find(({ args: { orderId } }) => orderId.user === whale.address && orderId.index === orderIndex)
  })
  assert.equal(answer.eventName, 'MarketExecuted', `${market.symbol}: ${inspect(answer.args)}`)
}

async function setTokenPrice(world: FacadeWorld, symbol: string, usd: string): Promise<void> {
  const { chain } = world
  const address: Address = await readDiamond(chain, 'getCollateralUsdPriceFeed', [chain.collateral(symbol).index])
  const abi = parseAbi(['function set(int256 price)'])
  const args = [parseUnits(usd, 8)] as const
  const hash = await deployerOf(world).writeContract({ address, abi, functionName: 'set', args, chain: null })
  await chain.client.waitForTransactionReceipt({ hash })
}

/** Slippage of other traders, 1e3 per percent: they trade at any price. */
const MAX_SLIPPAGE_P = 65_535

/** Length of a window of volume on the local chain. */
const WINDOW_S = 60

async function readMarkets(world: FacadeWorld): Promise<SizedMarket[]> {
  const { body } = await call(world.url(), `${CHAIN}/markets`)
  return Object.entries(MARKETS).map(([symbol, basePrice]) => {
    const { pairIndex, pricePrecision, sizePrecision, minLeverage } = (body.data as MarketRecord[]).find(
      (one) => one.symbol === symbol,
    )!
    return { symbol, pairIndex, basePrice, pricePrecision, sizePrecision, minLeverage: Number(minLeverage) }
  })
}
