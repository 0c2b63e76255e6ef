import type { LivePosition, PositionState } from '../../trading/positions/positionModel.ts'
import { NodeUnavailableError } from '../../ground/unavailable.ts'
import { Leverage, parseAddress, Price, type Address, type Candle, type Decimal, type OrderId } from '@bezel/protocol'
import type { AgentRecord } from '../../trading/agentRecord.ts'
import type { CandleWindow } from '../../market/candles/candleReads.ts'
import { type ChainMarkets, type ListedMarket, precisionOf } from '../../trading/market/chainMarkets.ts'
import { createFreshness } from '../../market/freshness.ts'
import {
  BTC,
  chainMarkets,
  createWorld,
  portsOf,
  symbol,
  usd,
  type MarketWorld,
} from '../../market/testing/fixtures.ts'
import { migrate } from '../../store/openStore.ts'
import { openTestStore, type TestStore } from '../../store/testing/testStore.ts'
import { POSITION, QUIET_PAIR } from '../../trading/valuation/testing/fixtures.ts'
import { createFacadeReads, type FacadeReads } from '../facadeReads.ts'

// Markets of the tests: BTC (0), PEPE (3), which costs less than 0.001 USD, USD/JPY (5), AMZN (7), closed in favour of
// another pair of the same name (9), EUR (21), closed for the weekend. Nothing is known of the other indexes.

export const ALICE: Address = parseAddress(`0x${'aa'.repeat(20)}`)!
export const DIAMOND: Address = parseAddress(`0x${'d1'.repeat(20)}`)!

export const PEPE_PRICE = Price.of(123_456n)

const JPY_PRICE = usd(151.234)

const AMZN_PRICE = usd(210)

/** 30 bands of 100,000 USD each, 100 ppm apart. */
const DEPTH = {
  totalDepthUsd: 3_000_000n,
  sharesBps: Array.from({ length: 30 }, (_, i) => (BigInt(i + 1) * 10_000n) / 30n),
  offsetsPpm: Array.from({ length: 30 }, (_, i) => BigInt(i + 1) * 100n),
}

function listedMarket(pairIndex: number, name: string, reference: Price): ListedMarket {
  const [base = '', quote = ''] = name.split('/')
  return { ...BTC, pairIndex, symbol: symbol(name), base, quote, ...precisionOf(reference) }
}

export function facadeMarkets(): ChainMarkets {
  const chain = chainMarkets()
  const btc = { ...BTC, listing: { ...BTC.listing, depthAbove: DEPTH, depthBelow: DEPTH } }
  const added: [ListedMarket, Price][] = [
    [listedMarket(3, 'PEPE/USD', PEPE_PRICE), PEPE_PRICE],
    [listedMarket(5, 'USD/JPY', JPY_PRICE), JPY_PRICE],
    [listedMarket(9, 'AMZN/USD', AMZN_PRICE), AMZN_PRICE],
  ]
  const listed = [btc, ...added.map(([one]) => one), chain.markets.get(symbol('EUR/USD'))!]
  const closed = { ...listedMarket(7, 'AMZN/USD', AMZN_PRICE), maxLeverage: Leverage.one }
  const quiet = new Map(Array.from({ length: 22 }, (_, pairIndex) => [pairIndex, QUIET_PAIR]))
  return {
    ...chain,
    pairs: new Map([...listed, closed].map((pair) => [pair.pairIndex, pair])),
    markets: new Map(listed.map((one) => [one.symbol, one])),
    symbols: new Map([
      ...[...listed, closed].map((one) => [one.pairIndex, one.symbol] as const),
      [8, symbol('GONE/USD')],
    ]),
    referencePrices: new Map([
      ...chain.referencePrices,
      ...added.map(([one, price]) => [one.pairIndex, price] as const),
    ]),
    states: new Map([
      [2, quiet],
      [3, quiet],
    ]),
  }
}

/** Returns an open position of Alice. Default: 100 USDC in BTC with leverage 10. */
export function livePosition(
  id: string,
  changes: Partial<PositionState['trade']> = {},
  state: Partial<PositionState> = {},
): LivePosition {
  const { trade, info, liquidationParams, feesData } = POSITION
  return {
    record: { id: id as OrderId, chain: 'base', trader: ALICE, originOrderId: id as OrderId },
    state: {
      isOpen: true,
      trade: { ...trade, ...changes },
      info,
      liquidationParams,
      feesData,
      maxClosingSlippageP: 0,
      pendingUpdate: null,
      oldBorrowing: null,
      updateRefusal: null,
      openedAtBlock: 1,
      openedAtMs: 1_000,
      updatedAtMs: 2_000,
      ...state,
    },
  }
}

/** State behind the facade under test. A test changes the fields that it is about. */
export interface FacadeWorld {
  readonly market: MarketWorld
  readonly opened: TestStore
  readonly reads: FacadeReads
  positions: readonly LivePosition[]
  agents: readonly AgentRecord[]
  /** Wallet balance in USDC. */
  balance: string
  isNodeAway: boolean
  followerReason: 'starting' | 'chain_lagging' | 'reorg_too_deep' | undefined
  /** False while not everything of the traders is known. */
  isKnown: boolean
  /** Ranges that were read from the candles. */
  readonly asked: { readonly pairIndex: number; readonly range: CandleWindow }[]
  candlesOf: (range: CandleWindow) => readonly Candle[]
}

export async function createFacadeWorld(): Promise<FacadeWorld> {
  const market = createWorld()
  market.chain = facadeMarkets()
  const quote = (pairIndex: number, mark: bigint) => {
    const times = { updatedAtMs: market.nowMs }
    market.quotes.set(pairIndex, { pairIndex, mark: Price.of(mark), index: Price.of(mark), ...times })
    market.open.add(pairIndex)
  }
  quote(3, PEPE_PRICE)
  quote(5, JPY_PRICE)
  quote(9, AMZN_PRICE)
  const opened = openTestStore()
  await migrate(opened.store)
  const ports = portsOf(market)
  const world: FacadeWorld = {
    market,
    opened,
    positions: [],
    agents: [],
    balance: '1000.5',
    isNodeAway: false,
    followerReason: undefined,
    isKnown: true,
    asked: [],
    candlesOf: () => [],
    reads: createFacadeReads({
      chain: 'base',
      now: ports.now,
      market: { watch: ports.watch, freshness: createFreshness(ports) },
      book: ports.book,
      hours: ports.hours,
      store: opened.store,
      requestsPerMinute: 600,
      diamond: DIAMOND,
      candles: {
        async list(pairIndex, range) {
          world.asked.push({ pairIndex, range })
          return Buffer.from(JSON.stringify({ data: world.candlesOf(range) }))
        },
        current: (pairIndex) => (pairIndex === 0 ? flatCandle(0, '59000') : undefined),
      },
      positions: {
        ofTrader: (trader) => world.positions.filter(({ record }) => record.trader === trader),
        find: (id) => world.positions.find(({ record }) => record.id === id),
      },
      follower: {
        head: () => undefined,
        reason: () => world.followerReason,
        isKnown: () => world.isKnown,
      },
      accounts: {
        async holdings() {
          if (world.isNodeAway) throw new NodeUnavailableError('away')
          const balances = [{ collateral: 'USDC', balance: world.balance as Decimal, allowance: '0' as Decimal }]
          return { balances, feeTierMultiplier: null, referrer: null, delegate: ALICE }
        },
      },
      registry: {
        findAgent: (_chain, agent) => world.agents.find((record) => record.agent === agent),
        agentsOf: (_chain, trader) => world.agents.filter((record) => record.trader === trader),
      },
    }),
  }
  return world
}

export function flatCandle(time: number, price: string): Candle {
  return { time, open: price, high: price, low: price, close: price }
}
