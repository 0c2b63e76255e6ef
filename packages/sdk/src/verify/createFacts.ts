import { formatDecimal, symbolOfPair, type MarketCollateral, type MarketRecord, type Price } from '@bezel/protocol/wire'
import { BezelApiError } from '../errors/bezelApiError.ts'
import { UnverifiedTransactionError } from '../errors/unverifiedTransactionError.ts'
import { isSame } from './decodeCalls.ts'
import { readChainFacts } from './readChainFacts.ts'
import type { ReadContract } from './readDiamond.ts'
import { USD_PRICE_DECIMALS } from './scales.ts'
import { unlistedCollateral, unlistedMarket } from './unlisted.ts'
import type { ChainFacts, CollateralFacts, MarketFacts } from './verifyContext.ts'

/** Percent. A token's price is read by the service at one moment and here at another. */
const READ_TOLERANCE_PERCENT = '0.5'
/** Percent. Of a dollar token whose price nobody told. */
const DOLLAR_TOLERANCE_PERCENT = '1'
const DOLLAR_PATTERN = /usd|^dai$/i
const MARKET_AGE_MS = 60_000

export interface FactsOptions {
  /** Reads the chain; `undefined`: the service's word is taken. */
  readonly read: ReadContract | undefined
  readonly diamond: () => Promise<`0x${string}`>
  readonly getMarket: (symbol: string) => Promise<MarketRecord>
  readonly getPrices: () => Promise<readonly Price[]>
  readonly now: () => number
}

/** Where the check of prepared transactions gets its facts from. */
export interface Facts {
  /** `pairIndices` are those that the trader has something in, in case that the market is closed to new trades. */
  market(symbol: string, pairIndices: () => Promise<readonly number[]>): Promise<MarketFacts>
  /** `symbol` undefined: the chain's default. */
  collateral(market: string, symbol: string | undefined, priceUsd: string | undefined): Promise<CollateralFacts>
  markPrice(market: string): Promise<string>
  onChain(trader: `0x${string}`): Promise<ChainFacts | undefined>
}

export function createFacts(options: FactsOptions): Facts {
  const { read, diamond, getMarket, getPrices, now } = options
  const markets = new Map<string, { readonly record: Promise<MarketRecord>; readonly atMs: number }>()
  /** What the chain said of a pair or token never changes, so it is asked once. */
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
      const listed = isClosed ? await unlistedCollateral(read, await diamond(), symbol) : known
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
        priceUsd: formatDecimal(units, USD_PRICE_DECIMALS),
        priceTolerancePercent: READ_TOLERANCE_PERCENT,
      }
    },
    async markPrice(market) {
      const found = (await getPrices()).find((price) => price.market === market)
      if (found === undefined) throw new UnverifiedTransactionError('price', `a price of ${market}`, 'none')
      return found.mark
    },
    onChain: async (trader) => (read === undefined ? undefined : readChainFacts(read, await diamond(), trader)),
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
  if (!isSame(collateral, listed.address))
    throw new UnverifiedTransactionError('collateral', collateral, listed.address)
  const [symbol, decimals] = await Promise.all([read(collateral, 'symbol', []), read(collateral, 'decimals', [])])
  if (symbol !== listed.symbol) throw new UnverifiedTransactionError('collateral', listed.symbol, symbol)
  if (decimals !== listed.decimals) {
    throw new UnverifiedTransactionError('collateral decimals', String(decimals), String(listed.decimals))
  }
}

/** By symbol; without one USDC where it is listed, else the only one there is. */
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
