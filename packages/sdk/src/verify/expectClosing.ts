import { decimalPlaces, parseDecimal, type Position } from '@bezel/protocol/wire'
import { UnverifiedTransactionError } from '../errors/unverifiedTransactionError.ts'
import { collateralOfUsd } from './collateralRange.ts'
import type { CallReader } from './createCallReader.ts'
import { expectPrice, expectSame } from './expect.ts'
import { expectPositionIndex } from './expectTradeIndex.ts'
import { DEFAULT_SLIPPAGE, scaled, SIZE_DECIMALS, slippageUnits, USD_DECIMALS } from './scales.ts'
import type { VerifyContext } from './verifyContext.ts'

/** What is to be taken from one position. */
export interface ClosingTerms {
  readonly position: Position
  /** Base units, 1e18. */
  readonly size: bigint
  /** As the caller wrote it; `undefined` for all of it. */
  readonly sizeText: string | undefined
  readonly price: string | undefined
  readonly slippage: string | undefined
}

/** A new position covers this many minimum fees, what a partial close leaves one of them. */
const MIN_FEES_ON_OPEN = 5n
/** The service names the minimum; a part becomes all of it only while what would be left is a trifle by any minimum. USD, 1e18. */
const MAX_TRIFLE_USD = 20n * 10n ** BigInt(USD_DECIMALS)
/** The same for the market's smallest size: a tenth of the position is no rounding. */
const MAX_ROUNDED_SHARE = 10n

/**
 * The next calls close that much of the position: its closing slippage where another is in force, then all of it or a part. The size that is
 * closed, base units 1e18.
 */
export function expectClosing(calls: CallReader, terms: ClosingTerms, context: VerifyContext): bigint {
  const { position } = terms
  const slippage = slippageUnits(terms.slippage)
  const slippageIndex = expectSlippageCall(calls, slippage)
  const whole = scaled('size', position.size, SIZE_DECIMALS)
  const closed = calls.isNext('decreasePositionSize')
    ? expectPart(calls, terms, { whole, slippage }, context)
    : expectWhole(calls, terms, { whole, slippage }, context)
  if (slippageIndex !== undefined) expectSame('trade index', closed.index, slippageIndex)
  const trade = expectPositionIndex(closed.index, position, context)
  if (slippageIndex === undefined) expectSlippageInForce(slippage, trade?.maxSlippageP)
  return closed.size
}

function expectSlippageCall(calls: CallReader, slippage: bigint): number | undefined {
  if (!calls.isNext('updateMaxClosingSlippageP')) return undefined
  const [index, maxSlippageP] = calls.next('updateMaxClosingSlippageP')
  expectSame('slippage', slippage, maxSlippageP)
  return index
}

/** A transaction that sets no closing slippage relies on what the chain has. 0 there is the default. */
function expectSlippageInForce(slippage: bigint, onChain: number | undefined): void {
  const inForce = onChain === undefined || onChain === 0 ? slippageUnits(DEFAULT_SLIPPAGE) : BigInt(onChain)
  if (inForce === slippage) return
  throw new UnverifiedTransactionError('slippage', `${slippage}, set by the transaction`, `${inForce}, left as it is`)
}

interface Closed {
  readonly index: number
  readonly size: bigint
}
type Bounds = { readonly whole: bigint; readonly slippage: bigint }

function expectWhole(
  calls: CallReader,
  terms: ClosingTerms,
  { whole, slippage }: Bounds,
  context: VerifyContext,
): Closed {
  const [index, expectedPrice] = calls.next('closeTradeMarket')
  expectPrice(terms.price, slippage, context, expectedPrice)
  if (!mayBeWhole(terms, whole, context)) {
    throw new UnverifiedTransactionError('size', `${terms.sizeText} of ${terms.position.size}`, 'all of the position')
  }
  return { index, size: whole }
}

function expectPart(
  calls: CallReader,
  terms: ClosingTerms,
  { whole, slippage }: Bounds,
  context: VerifyContext,
): Closed {
  const [index, collateralDelta, leverageDelta, expectedPrice] = calls.next('decreasePositionSize')
  expectPrice(terms.price, slippage, context, expectedPrice)
  expectSame('leverageDelta', 0, leverageDelta)
  const { part, left } = sharesOf(terms, whole, context)
  const isWhole = reachesWhole(terms, whole, context) || left < minLeft(context).least
  if (isWhole) throw new UnverifiedTransactionError('size', 'all of the position', `a part, ${collateralDelta}`)
  expectSame('collateralDelta', part, collateralDelta)
  return { index, size: terms.size }
}

function mayBeWhole(terms: ClosingTerms, whole: bigint, context: VerifyContext): boolean {
  return reachesWhole(terms, whole, context) || sharesOf(terms, whole, context).left < minLeft(context).most
}

/** The position's size as its market counts, further decimals cut off. A caller's own decimals show that the market has at least so many. */
function reachesWhole({ size, sizeText }: ClosingTerms, whole: bigint, { market }: VerifyContext): boolean {
  if (size >= whole) return true
  const asked = sizeText === undefined ? undefined : parseDecimal(sizeText)
  const precision = Math.max(market.sizePrecision, asked === undefined ? 0 : decimalPlaces(asked))
  const unit = 10n ** BigInt(SIZE_DECIMALS - precision)
  return size >= whole - (whole % unit) && (whole - size) * MAX_ROUNDED_SHARE <= whole
}

/** The collateral of the part, its share rounded down but at least one unit, and what stays. */
function sharesOf({ position, size }: ClosingTerms, whole: bigint, { collateral }: VerifyContext) {
  const held = scaled('collateral', position.collateral, collateral.decimals)
  const share = (held * size) / whole
  const part = share > 0n ? share : 1n
  return { part, left: held - part }
}

/** The least collateral that the Diamond leaves in a position: one minimum fee. */
function minLeft({ market, collateral }: VerifyContext): { readonly least: bigint; readonly most: bigint } {
  const named = scaled('minCollateralUsd', market.minCollateralUsd, USD_DECIMALS) / MIN_FEES_ON_OPEN
  const { least, most } = collateralOfUsd(named < MAX_TRIFLE_USD ? named : MAX_TRIFLE_USD, collateral)
  return { least: least > 0n ? least : 1n, most: most > 0n ? most : 1n }
}
