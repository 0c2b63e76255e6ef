import {
  CollateralPrice,
  Usd,
  symbolOfPair,
  type MarketCollateral,
  type MarketPrice,
  type MarketRecord,
  type PercentP,
} from '@bezel/protocol/wire'
import { BezelApiError } from '../errors/serviceErrors.ts'
import { UnverifiedTransactionError } from '../errors/transactionErrors.ts'
import { isSameAddress } from './decodeCalls.ts'
import {
  findToken,
  readChainFacts,
  readOpeningImpact,
  readPairPrice,
  type OpeningFacts,
  type ReadContract,
} from './readDiamond.ts'
import type { ChainFacts, ChainPrice, CollateralFacts, MarketFacts } from './verifyContext.ts'

// Markets that the service no longer lists, because nothing new is opened in them, must still be closed and cancelled.

/** Largest size precision of any market; the service uses it too where it does not know better. */
const ANY_SIZE_PRECISION = 8

const MIN_FEES_ON_OPEN = 5n

/** Tolerance of a token's price in percent: the service reads the price at one moment, and we at another. */
const READ_TOLERANCE_PERCENT = '0.5'

/** Tolerance in percent for a dollar token whose price is not known. */
const DOLLAR_TOLERANCE_PERCENT = '1'

const DOLLAR_PATTERN = /usd|^dai$/i

const MARKET_AGE_MS = 60_000

interface FactsOptions {
  /** Reader of the chain. `undefined` means that the service's word is taken. */
  readonly read: ReadContract | undefined
  readonly diamond: () => Promise<`0x${string}`>
  readonly getMarket: (symbol: string) => Promise<MarketRecord>
  readonly getPrices: () => Promise<readonly MarketPrice[]>
  readonly now: () => number
}

/** The source of facts for the check of prepared transactions. */
export interface Facts {
  /**
   * Returns the facts of a market. `pairIndices` are the pairs the trader has something in, used when the market is
   * closed to new trades.
   */
  market(symbol: string, pairIndices: () => Promise<readonly number[]>): Promise<MarketFacts>
  /** Returns the facts of a collateral. An undefined `symbol` means the default one. */
  collateral(market: string, symbol: string | undefined, priceUsd: string | undefined): Promise<CollateralFacts>
  markPrice(market: string): Promise<string>
  onChain(trader: `0x${string}`): Promise<ChainFacts | undefined>
  /** Returns the price of a pair on the chain; `undefined` when there is none that can be read. */
  chainPrice(pairIndex: number): Promise<ChainPrice | undefined>
  /** Returns the spread and volume impact of an opening; `undefined` when the chain can't be read. */
  impactP(opening: OpeningFacts): Promise<PercentP | undefined>
}

/** Creates the source of facts of a client. */
export function createFacts(options: FactsOptions): Facts {
  const { read, diamond, getMarket, getPrices, now } = options
  const markets = new Map<string, { readonly record: Promise<MarketRecord>; readonly atMs: number }>()
  /** Pairs and tokens that the chain has confirmed. They never change, so each is read once. */
  const proven = new Set<string>()

  async function recordOf(symbol: string): Promise<MarketRecord> {
    const kept = markets.get(symbol)
    if (kept !== undefined && now() - kept.atMs < MARKET_AGE_MS) return kept.record
    const record = getMarket(symbol)
    markets.set(symbol, { record, atMs: now() })
    record.catch(() => markets.delete(symbol))
    return record
  }

  async function once(key: string, prove: (reader: ReadContract) => Promise<void>): Promise<void> {
    if (read === undefined || proven.has(key)) return
    await prove(read)
    proven.add(key)
  }

  return {
    async market(symbol, pairIndices) {
      const record = await recordOf(symbol).catch(noneWhenUnlisted)
      if (record === undefined) {
        const found = read && (await unlistedMarket(read, await diamond(), symbol, await pairIndices()))
        return found ?? refuse('market', 'one that the service lists, or that the chain knows', symbol)
      }
      const { pairIndex, sizePrecision, minCollateralUsd } = record
      await once(`pair ${pairIndex} ${symbol}`, async (reader) => provePair(reader, await diamond(), pairIndex, symbol))
      return { symbol, pairIndex, sizePrecision, minCollateralUsd }
    },
    async collateral(market, symbol, priceUsd) {
      const record = await recordOf(market).catch(noneWhenUnlisted)
      const known = collateralNamed(record?.collaterals ?? [], symbol)
      const isClosed = known === undefined && symbol !== undefined && read !== undefined
      const listed = isClosed ? await findToken(read, await diamond(), symbol) : known
      if (listed === undefined)
        return refuse('collateral', 'one that is listed', symbol ?? 'none named, without a default')
      const facts = { symbol: listed.symbol, index: listed.index, decimals: listed.decimals }
      const key = `token ${listed.index} ${listed.symbol} ${listed.decimals}`
      await once(key, async (reader) => proveToken(reader, await diamond(), listed))
      if (priceUsd !== undefined) return { ...facts, priceUsd, priceTolerancePercent: READ_TOLERANCE_PERCENT }
      if (read === undefined) return { ...facts, ...dollarPrice(listed.symbol) }
      const units = await read(await diamond(), 'getCollateralPriceUsd', [listed.index])
      return {
        ...facts,
        priceUsd: CollateralPrice.format(CollateralPrice.of(units)),
        priceTolerancePercent: READ_TOLERANCE_PERCENT,
      }
    },
    async markPrice(market) {
      const found = (await getPrices()).find((price) => price.market === market)
      if (found === undefined) throw new UnverifiedTransactionError('price', `a price of ${market}`, 'none')
      return found.mark
    },
    onChain: async (trader) => (read === undefined ? undefined : readChainFacts(read, await diamond(), trader)),
    chainPrice: async (pairIndex) =>
      read === undefined ? undefined : readPairPrice(read, await diamond(), pairIndex, now()),
    impactP: async (opening) => (read === undefined ? undefined : readOpeningImpact(read, await diamond(), opening)),
  }
}

async function provePair(read: ReadContract, diamond: `0x${string}`, pairIndex: number, symbol: string): Promise<void> {
  const { from, to } = await read(diamond, 'pairs', [BigInt(pairIndex)])
  const found = symbolOfPair(from, to) ?? `${from}/${to}`
  if (found !== symbol)
    throw new UnverifiedTransactionError('market', symbol, `pair ${pairIndex}, on the chain ${found}`)
}

async function proveToken(read: ReadContract, diamond: `0x${string}`, listed: MarketCollateral): Promise<void> {
  const { collateral } = await read(diamond, 'getCollateral', [listed.index])
  if (!isSameAddress(collateral, listed.address))
    throw new UnverifiedTransactionError('collateral', collateral, listed.address)
  const [symbol, decimals] = await Promise.all([read(collateral, 'symbol', []), read(collateral, 'decimals', [])])
  if (symbol !== listed.symbol) throw new UnverifiedTransactionError('collateral', listed.symbol, symbol)
  if (decimals !== listed.decimals) {
    throw new UnverifiedTransactionError('collateral decimals', String(decimals), String(listed.decimals))
  }
}

/** Finds a collateral by its symbol. Without a symbol: USDC if listed, otherwise the only one there is. */
function collateralNamed(
  listed: readonly MarketCollateral[],
  symbol: string | undefined,
): MarketCollateral | undefined {
  if (symbol !== undefined) return listed.find((collateral) => collateral.symbol === symbol)
  return listed.find((collateral) => collateral.symbol === 'USDC') ?? (listed.length === 1 ? listed[0] : undefined)
}

function noneWhenUnlisted(error: unknown): undefined {
  if (error instanceof BezelApiError && error.code === 'MARKET_NOT_FOUND') return undefined
  throw error
}

function refuse(field: string, expected: string, found: string): never {
  throw new UnverifiedTransactionError(field, expected, found)
}

function dollarPrice(symbol: string): Pick<CollateralFacts, 'priceUsd' | 'priceTolerancePercent'> {
  if (DOLLAR_PATTERN.test(symbol)) return { priceUsd: '1', priceTolerancePercent: DOLLAR_TOLERANCE_PERCENT }
  throw new UnverifiedTransactionError(
    'collateral price',
    `the price of ${symbol} (collateralPriceUsd), or a sender that can read the chain`,
    'unknown',
  )
}

/** Finds a market among the pairs that the trader has something in, by the name the chain gives it. */
async function unlistedMarket(
  read: ReadContract,
  diamond: `0x${string}`,
  symbol: string,
  pairIndices: readonly number[],
): Promise<MarketFacts | undefined> {
  for (const pairIndex of new Set(pairIndices)) {
    const { from, to } = await read(diamond, 'pairs', [BigInt(pairIndex)])
    if (symbolOfPair(from, to) !== symbol) continue
    const minFeeUsd = await read(diamond, 'pairMinFeeUsd', [BigInt(pairIndex)])
    const minCollateralUsd = Usd.format(Usd.of(minFeeUsd * MIN_FEES_ON_OPEN))
    return { symbol, pairIndex, sizePrecision: ANY_SIZE_PRECISION, minCollateralUsd }
  }
  return undefined
}
