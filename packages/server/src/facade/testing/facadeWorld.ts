import type { LivePosition } from '../../trading/positions/livePosition.ts'
import { NodeUnavailableError } from '../../ground/unavailable.ts'
import { parseAddress, type Address, type Candle, type Decimal, type OrderId } from '@bezel/protocol'
import type { AgentRecord } from '../../trading/agentRecord.ts'
import type { CandleRange } from '../../market/candles/candleReads.ts'
import type { ChainMarkets, ListedMarket } from '../../trading/market/chainMarkets.ts'
import { createFreshness } from '../../market/freshness.ts'
import { precisionOf } from '../../trading/market/precision.ts'
import {
  BTC,
  chainMarkets,
  createWorld,
  portsOf,
  symbol,
  usd,
  type MarketWorld,
} from '../../market/testing/fixtures.ts'
import { migrate } from '../../store/migrate.ts'
import { openTestStore, type TestStore } from '../../store/testStore.ts'
import type { PositionState } from '../../trading/positions/positionModel.ts'
import { POSITION, QUIET_PAIR } from '../../trading/valuation/testing/fixtures.ts'
import { createFacadeReads, type FacadeReads } from '../facadeReads.ts'

// BTC (0), a PEPE that costs next to nothing (3), USD/JPY (5), an AMZN that was closed (7) for another of the same name (9), EUR (21, closed
// for the weekend) and places that nothing is known of.

export const ALICE: Address = parseAddress(`0x${'aa'.repeat(20)}`)!
export const PEPE_PRICE = 123_456n
const JPY_PRICE = usd(151.234)
const AMZN_PRICE = usd(210)

/** 30 bands of 100,000 USD, one per 100 ppm. */
const DEPTH = {
  totalDepthUsd: 3_000_000n,
  sharesBps: Array.from({ length: 30 }, (_, i) => (BigInt(i + 1) * 10_000n) / 30n),
  offsetsPpm: Array.from({ length: 30 }, (_, i) => BigInt(i + 1) * 100n),
}

function listedMarket(pairIndex: number, name: string, reference: bigint): ListedMarket {
  const [base = '', quote = ''] = name.split('/')
  return { ...BTC, pairIndex, symbol: symbol(name), base, quote, ...precisionOf(reference) }
}

export function facadeMarkets(): ChainMarkets {
  const chain = chainMarkets()
  const btc = { ...BTC, listing: { ...BTC.listing, depthAbove: DEPTH, depthBelow: DEPTH } }
  const added: [ListedMarket, bigint][] = [
    [listedMarket(3, 'PEPE/USD', PEPE_PRICE), PEPE_PRICE],
    [listedMarket(5, 'USD/JPY', JPY_PRICE), JPY_PRICE],
    [listedMarket(9, 'AMZN/USD', AMZN_PRICE), AMZN_PRICE],
  ]
  const listed = [btc, ...added.map(([one]) => one), chain.markets.get(symbol('EUR/USD'))!]
  const closed = { ...listedMarket(7, 'AMZN/USD', AMZN_PRICE), maxLeverage: 1_000n }
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

/** An open position of Alice: 100 USDC at ten times in BTC unless a test says otherwise. */
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
      openedAtBlock: 1,
      openedAtMs: 1_000,
      updatedAtMs: 2_000,
      ...state,
    },
  }
}

/** What the facade of a test stands on. */
export interface FacadeWorld {
  readonly market: MarketWorld
  readonly opened: TestStore
  readonly reads: FacadeReads
  positions: readonly LivePosition[]
  agents: readonly AgentRecord[]
  /** USDC, as text. */
  balance: string
  isNodeAway: boolean
  followerReason: 'starting' | 'chain_lagging' | 'reorg_too_deep' | undefined
  /** What was asked of the candles. */
  readonly asked: { readonly pairIndex: number; readonly range: CandleRange }[]
  candlesOf: (range: CandleRange) => readonly Candle[]
}

export async function createFacadeWorld(): Promise<FacadeWorld> {
  const market = createWorld()
  market.chain = facadeMarkets()
  const quote = (pairIndex: number, mark: bigint) => {
    const times = { updatedAtMs: market.nowMs, tickedAtMs: market.nowMs }
    market.quotes.set(pairIndex, { pairIndex, mark, index: mark, ...times })
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
      },
      accounts: {
        async holdings() {
          if (world.isNodeAway) throw new NodeUnavailableError('away')
          const balances = [{ collateral: 'USDC', balance: world.balance as Decimal, allowance: '0' as Decimal }]
          return { balances, feeTierMultiplier: null, referrer: null, delegate: ALICE }
        },
      },
      registry: {
        agent: (_chain, agent) => world.agents.find((record) => record.agent === agent),
        agentsOf: (_chain, trader) => world.agents.filter((record) => record.trader === trader),
      },
    }),
  }
  return world
}

export function flatCandle(time: number, price: string): Candle {
  return { time, open: price, high: price, low: price, close: price }
}
