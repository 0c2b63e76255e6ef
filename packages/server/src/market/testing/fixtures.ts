import type { PairQuote, ChainMarkets, ListedMarket } from '../../trading/market/chainMarkets.ts'
import {
  CollateralPrice,
  Leverage,
  parseAddress,
  parseMarketSymbol,
  Price,
  type MarketGroup,
  type MarketSymbol,
} from '@bezel/protocol'
import type { FeedPulse } from '../feed/feed.ts'
import type { PairState } from '../../trading/valuation/chainState.ts'
import { LISTING, QUIET_PAIR, USDC } from '../../trading/valuation/testing/fixtures.ts'

// A chain with BTC/USD (pair 0) and EUR/USD (pair 21) in USDC and WETH. Tests change only the field they are about.

export const symbol = (text: string): MarketSymbol => parseMarketSymbol(text)!

/** Returns the price of an amount in USD. */
export const usd = (price: number): Price => Price.of(BigInt(Math.round(price * 1e4)) * 10n ** 6n)

function market(pairIndex: number, name: string, group: MarketGroup): ListedMarket {
  const [base = '', quote = ''] = name.split('/')
  const leverages = { minLeverage: Leverage.of(1_100), maxLeverage: Leverage.of(200_000) }
  const precisions = { pricePrecision: 2, sizePrecision: 5 }
  return {
    pairIndex,
    symbol: symbol(name),
    base,
    quote,
    group,
    groupIndex: 0,
    feeIndex: 0,
    ...leverages,
    ...precisions,
    listing: LISTING,
  }
}

export const BTC = market(0, 'BTC/USD', 'crypto')

export const EUR = market(21, 'EUR/USD', 'forex')

/** Returns the markets of the chain. `pair` overrides BTC's state in USDC; all other pairs have no activity. */
export function chainMarkets(pair: Partial<PairState> = {}): ChainMarkets {
  const quiet = new Map([
    [0, QUIET_PAIR],
    [21, QUIET_PAIR],
  ])
  const token = { isActive: true, address: parseAddress(`0x${'11'.repeat(20)}`)! }
  const weth = { precision: 10n ** 18n, precisionDelta: 1n, priceUsd: CollateralPrice.of(2_500n * CollateralPrice.one) }
  return {
    moment: { timestampS: 1_000, blockNumber: 100 },
    collaterals: [
      { ...token, index: 2, symbol: 'WETH', decimals: 18, state: weth },
      { ...token, index: 3, symbol: 'USDC', decimals: 6, state: USDC },
      { ...token, index: 4, symbol: 'OLD', decimals: 6, state: USDC, isActive: false },
    ],
    defaultCollateralIndex: 3,
    pairs: new Map([
      [0, BTC],
      [21, EUR],
    ]),
    markets: new Map([
      [BTC.symbol, BTC],
      [EUR.symbol, EUR],
    ]),
    symbols: new Map([
      [0, BTC.symbol],
      [21, EUR.symbol],
    ]),
    referencePrices: new Map([
      [0, usd(60_000)],
      [21, usd(1.16)],
    ]),
    states: new Map([
      [2, quiet],
      [3, new Map([...quiet, [0, { ...QUIET_PAIR, ...pair }]])],
    ]),
    volumes: new Map(),
    blocksPerHour: 1_800,
    marketOrdersTimeoutBlocks: 200,
    triggerTimeoutBlocks: 50,
    govFeeP: 24_500,
    negPnlCumulVolMultiplier: 4_000_000_000,
    tradingActivated: 0,
  }
}

/**
 * The inputs of the market reads, as a test sets them. Initially ready: BTC open with a current tick, EUR closed with a
 * price from an hour ago.
 */
export interface MarketWorld {
  nowMs: number
  chain: ChainMarkets | undefined
  isLagging: boolean
  hasSnapshot: boolean
  wasAsked: boolean
  /** Time of the feed's last message; `undefined` is that of its latest price. */
  heardAtMs: number | undefined
  readonly quotes: Map<number, PairQuote>
  /** Prices from before the start. */
  readonly recalled: Map<number, PairQuote>
  readonly open: Set<number>
  version: number
}

export function createWorld(): MarketWorld {
  const nowMs = 1_800_000_000_000
  const quote = (pairIndex: number, price: number, updatedAtMs: number): [number, PairQuote] => [
    pairIndex,
    { pairIndex, mark: usd(price), index: usd(price), updatedAtMs },
  ]
  return {
    nowMs,
    chain: chainMarkets(),
    isLagging: false,
    hasSnapshot: true,
    wasAsked: true,
    heardAtMs: undefined,
    quotes: new Map([quote(0, 60_000, nowMs), quote(21, 1.16, nowMs - 3_600_000)]),
    recalled: new Map(),
    open: new Set([0]),
    version: 1,
  }
}

/** Returns the signs of life of a feed that was last heard with its latest price. */
function pulseOf({ quotes, heardAtMs }: MarketWorld): FeedPulse {
  const pricedAtMs = Math.max(...[...quotes.values()].map(({ updatedAtMs }) => updatedAtMs))
  return { heardAtMs: heardAtMs ?? pricedAtMs, pricedAtMs }
}

/** Returns the inputs as the interfaces that the reads expect. */
export function portsOf(world: MarketWorld) {
  const version = (): number => world.version
  return {
    watch: { current: () => world.chain, isLagging: () => world.isLagging, version },
    book: {
      get: (pairIndex: number) => world.quotes.get(pairIndex),
      last: (pairIndex: number) => world.quotes.get(pairIndex) ?? world.recalled.get(pairIndex),
      version,
    },
    wasAsked: () => world.wasAsked,
    pulse: () => (world.hasSnapshot ? pulseOf(world) : undefined),
    quietMs: 60_000,
    hours: {
      isOpen: ({ pairIndex }: { pairIndex: number }) => world.open.has(pairIndex),
      opensAt: () => null,
      version,
    },
    now: () => world.nowMs,
  }
}
