import type { LivePosition } from '../trading/positions/positionModel.ts'
import { Slippage, type Address, type Decimal, type Position, type Price } from '@bezel/protocol'
import type { AccountLog } from '../journal/accountLog.ts'
import type { Delegates } from '../agents/delegates.ts'
import type { RpcClient } from '../chain/rpcClient.ts'
import type { ServedChain } from '../chain/servedChain.ts'
import type { LivePositions } from '../accounts/positions/livePositions.ts'
import type { KnownTerms } from '../accounts/positions/traderTerms.ts'
import type { FollowedBlock } from '../store/blockStore.ts'
import type { Store } from '../store/sql.ts'
import type { ChainMarkets } from '../trading/market/chainMarkets.ts'
import type { AttemptId, FoldClock } from '../trading/orders/orderModel.ts'
import type { TradingContext } from '../trading/plan/plan.ts'
import type { Moment } from '../trading/valuation/chainState.ts'
import { priceIsMissing, type Freshness, type Witness } from '../market/freshness.ts'
import type { MarketHours } from '../market/hours.ts'

/** Validity of prepared transactions and of reports, and the limit on prepared orders. */
interface PrepareSettings {
  /** Validity of a transaction that contains the current price, in ms. */
  readonly preparedMarketMs: number
  /** Validity of all other transactions, in ms. */
  readonly preparedRestingMs: number
  /** Time for which a reported hash counts as sent although no node knows it, in ms. */
  readonly unknownHashMs: number
  /** Maximum number of unexpired prepared orders per agent. */
  readonly maxPreparedOrders: number
}

/** Dependencies of the writes to orders and positions of one chain. */
export interface ChainOrders {
  readonly chain: ServedChain
  readonly client: RpcClient
  readonly store: Pick<Store, 'read'>
  readonly accountLog: Pick<AccountLog, 'transaction' | 'join'>
  readonly delegates: Delegates
  readonly terms: KnownTerms
  /**
   * Returns the inputs of the trading rules. What opens or enlarges gets them by `openingContext`, with a witness of
   * the price. Throws `NOT_READY` while the chain's markets are not known.
   */
  readonly trading: (witness?: Witness) => TradingContext
  /** Reads a second source's price of a pair whose last price is old; `undefined` where none is needed or to be had. */
  readonly witness: (pairIndex: number) => Promise<Price | undefined>
  readonly positions: Pick<LivePositions, 'ofTrader' | 'find'>
  /** Returns true when everything that a trader has on the chain is known. */
  readonly isKnown: (trader: Address) => boolean
  /** Returns a position as the API shows it, valued with the last price. */
  readonly positionAnswer: (position: LivePosition) => Position
  /** Returns the time and the number of the last followed block. */
  readonly clock: () => FoldClock
  /** Returns the number of the newest final block; negative when there is none. */
  readonly lastFinal: () => number
  readonly now: () => number
  /** Returns a new attempt id of 8 random bytes. */
  readonly newAttemptId: () => AttemptId
  readonly settings: PrepareSettings
}

/**
 * Returns a function that gives the current inputs of the trading rules. It throws `NOT_READY` while the chain's
 * markets are not known.
 */
export function createTradingContext(of: {
  readonly freshness: Pick<Freshness, 'loaded' | 'openingMark' | 'lastQuote'>
  readonly hours: Pick<MarketHours, 'isOpen' | 'opensAt'>
  readonly now: () => number
  /** Returns the last followed block; `undefined` before the first. */
  readonly head: () => Pick<FollowedBlock, 'number' | 'timestampMs'> | undefined
  readonly terms: Pick<KnownTerms, 'of'>
}): (witness?: Witness) => TradingContext {
  const contextOf = (chain: ChainMarkets, witness: Witness | undefined): TradingContext => ({
    chain,
    markOf: (market) => of.freshness.openingMark(market, witness),
    lastMarkOf: (market) => {
      const quote = of.freshness.lastQuote(market, witness)
      if (quote === undefined) throw priceIsMissing(market)
      return { price: quote.mark, atMs: quote.updatedAtMs, ageMs: of.now() - quote.updatedAtMs }
    },
    isOpen: (market) => of.hours.isOpen(market),
    opensAt: (market) => of.hours.opensAt(market),
    moment: laterMoment(chain.moment, of.head()),
    termsOf: (trader, { pairIndex }) => of.terms.of(trader, pairIndex),
  })
  return (witness) => contextOf(of.freshness.loaded(), witness)
}

/**
 * Returns the inputs of the trading rules for an order that opens or enlarges a position. In a market whose last price
 * is old, it first asks a second witness, whose price must be within the slippage and is then the mark.
 */
export async function openingContext(
  { trading, witness }: Pick<ChainOrders, 'trading' | 'witness'>,
  { pairIndex, slippage }: { readonly pairIndex: number; readonly slippage: Decimal },
): Promise<TradingContext> {
  const price = await witness(pairIndex)
  return trading({ pairIndex, price, slippage: Slippage.parse(slippage)! })
}

/** Returns the later of the block at which the markets were read and the last followed one. */
function laterMoment(read: Moment, head: Pick<FollowedBlock, 'number' | 'timestampMs'> | undefined): Moment {
  if (head === undefined || head.number <= read.blockNumber) return read
  return { blockNumber: head.number, timestampS: Math.floor(head.timestampMs / 1_000) }
}
