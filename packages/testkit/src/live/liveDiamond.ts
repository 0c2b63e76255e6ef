import { parseDecimal, Price } from '@bezel/protocol'
import type { PopulatedMarket } from '../../../../contracts/populate.ts'
import { livePairs } from '../../../devnet/src/listing/liveListing.ts'
import { createChainClient, type ChainClient } from '../chainClient.ts'
import { createSeededRandom } from '../seededRandom.ts'
import { startDevnet, type RunningDevnet } from '../startDevnet.ts'
import { drawTraders, populateChain } from './populateChain.ts'

/** A local chain whose Diamond is as large as the live one on Arbitrum. */
export interface LiveDiamond {
  readonly devnet: RunningDevnet
  readonly chain: ChainClient
}

/** The options of a Diamond of live size. */
interface LiveDiamondOptions {
  /** Number of open trades and resting orders. Default 20,000, several times those of the busiest chain. */
  readonly trades?: number
  /** Time between blocks in ms, once the trades are written. Default 250, as on Arbitrum. */
  readonly blockMs?: number
}

const TRADES = 20_000
const BLOCK_MS = 250
const SEED = 1

/**
 * Number of markets drawn for the trades of one transaction. They are drawn with repetition, so a popular market has
 * more than one of the places.
 */
const MARKETS_PER_TRANSACTION = 24

/**
 * Starts a chain with 483 pairs, 340 of which can be traded, 4 collaterals and many open trades. Quiet pairs of its
 * feed sleep, as quiet ones of the live feed do. The recorded trades of the public SDK repository are not part of its
 * published package, so popularity falls as 1 / rank of the pair, by which BTC and ETH have a quarter of all trades;
 * sides, leverages and amounts are drawn by Populate.sol.
 */
export async function startLiveDiamond(options: LiveDiamondOptions = {}): Promise<LiveDiamond> {
  const { trades = TRADES, blockMs = BLOCK_MS } = options
  const devnet = await startDevnet({ DEVNET_LISTING: 'live', DEVNET_BLOCK_MS: String(blockMs) })
  const chain = createChainClient(devnet.file)
  // Neither closes what is written: nobody asked for it, and its prices are those of the start.
  await Promise.all([chain.control('bezel_pauseKeeper', true), chain.control('bezel_pauseOracle', true)])
  const traders = drawTraders(trades, chain.account('trader-4').address, chain.account('trader-5').address)
  await populateChain({ devnet, chain }, traders, createMarketDraw())
  return { devnet, chain }
}

/** Returns a draw of markets by their popularity. */
function createMarketDraw(): () => readonly PopulatedMarket[] {
  const random = createSeededRandom(SEED)
  const pairs = livePairs()
  const shares = pairs.map((_, rank) => 1 / (rank + 1))
  const whole = shares.reduce((sum, share) => sum + share, 0)

  function drawOne(): PopulatedMarket {
    let left = random.next() * whole
    const at = shares.findIndex((share) => (left -= share) < 0)
    const { index, startPrice } = pairs.at(at)!
    return { pairIndex: index, price: Price.parse(parseDecimal(startPrice)!)! }
  }
  return () => Array.from({ length: MARKETS_PER_TRANSACTION }, drawOne)
}
