import {
  BaseSize,
  decimalPlaces,
  DEFAULT_SLIPPAGE,
  parseDecimal,
  Usd,
  type CreateOrderRequest,
  type Position,
} from '@bezel/protocol/wire'
import { UnverifiedTransactionError } from '../errors/transactionErrors.ts'
import { expectPrice, expectSame } from './expect.ts'
import { collateralRangeOfUsd } from './expectAmount.ts'
import { expectReclaim } from './expectReclaim.ts'
import type { CallReader } from './decodeCalls.ts'
import { expectPositionIndex } from './expectTradeIndex.ts'
import { collateralUnits, scaled, slippageUnits } from './scales.ts'
import type { VerifyContext } from './verifyContext.ts'

/** The part to take from one position. */
export interface ClosingToVerify {
  readonly position: Position
  /** Size in base units, 1e18. */
  readonly size: bigint
  /** Size as the caller wrote it; `undefined` for the whole position. */
  readonly sizeText: string | undefined
  readonly price: string | undefined
  readonly slippage: string | undefined
}

/** Minimum fees that a new position must cover. A partial close must leave one of them. */
const MIN_FEES_ON_OPEN = 5n

/**
 * Largest remainder in USD (1e18) for which a partial close may become a whole one. The service names the real minimum,
 * and this bounds it.
 */
const MAX_TRIFLE_USD = 20n * Usd.one

/** Bounds the rounding to the market's smallest size: a tenth of the position is no rounding. */
const MAX_ROUNDED_SHARE = 10n

/**
 * Checks that the next calls close this part of the position: the reclaim of a request that stands in the way, the
 * closing slippage if another one is in force, then all of it or a part. Returns the closed size in base units, 1e18.
 */
export function expectClosing(calls: CallReader, terms: ClosingToVerify, context: VerifyContext): bigint {
  const { position } = terms
  const slippage = slippageUnits(terms.slippage)
  const reclaimed = expectReclaim(calls, position, context)
  const slippageIndex = expectSlippageCall(calls, slippage)
  const whole = scaled('size', position.size, BaseSize)
  const closed = calls.isNext('decreasePositionSize')
    ? expectPart(calls, terms, { whole, slippage }, context)
    : expectWhole(calls, terms, { whole, slippage }, context)
  for (const index of [reclaimed, slippageIndex]) {
    if (index !== undefined) expectSame('trade index', closed.index, index)
  }
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

/** Checks the slippage in force on the chain when the transaction sets none. A 0 there means the default. */
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
  terms: ClosingToVerify,
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
  terms: ClosingToVerify,
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

function mayBeWhole(terms: ClosingToVerify, whole: bigint, context: VerifyContext): boolean {
  return reachesWhole(terms, whole, context) || sharesOf(terms, whole, context).left < minLeft(context).most
}

/**
 * Returns true when the asked size is the whole position, after cutting decimals that the market does not have. The
 * decimals a caller uses show that the market has at least as many.
 */
function reachesWhole({ size, sizeText }: ClosingToVerify, whole: bigint, { market }: VerifyContext): boolean {
  if (size >= whole) return true
  const asked = sizeText === undefined ? undefined : parseDecimal(sizeText)
  const precision = Math.max(market.sizePrecision, asked === undefined ? 0 : decimalPlaces(asked))
  const unit = 10n ** BigInt(BaseSize.decimals - precision)
  return size >= whole - (whole % unit) && (whole - size) * MAX_ROUNDED_SHARE <= whole
}

/** Returns the collateral of the part, rounded down but at least one unit, and the collateral that stays. */
function sharesOf({ position, size }: ClosingToVerify, whole: bigint, { collateral }: VerifyContext) {
  const held = collateralUnits('collateral', position.collateral, collateral.decimals)
  const share = (held * size) / whole
  const part = share > 0n ? share : 1n
  return { part, left: held - part }
}

/** Returns the least collateral that the Diamond leaves in a position: one minimum fee. */
function minLeft({ market, collateral }: VerifyContext): { readonly least: bigint; readonly most: bigint } {
  const named = scaled('minCollateralUsd', market.minCollateralUsd, Usd) / MIN_FEES_ON_OPEN
  const { least, most } = collateralRangeOfUsd(named < MAX_TRIFLE_USD ? named : MAX_TRIFLE_USD, collateral)
  return { least: least > 0n ? least : 1n, most: most > 0n ? most : 1n }
}

/**
 * Checks that opposite positions of the market in one collateral are closed, oldest first, until the size is used up,
 * and not one more.
 */
export function expectReduction(calls: CallReader, body: CreateOrderRequest, context: VerifyContext): void {
  const { market, collateral } = context
  let left = scaled('size', body.size, BaseSize)
  const unit = 10n ** BigInt(BaseSize.decimals - market.sizePrecision)
  const candidates = reducible(context.positions ?? [], body).filter(
    ({ collateralSymbol }) => collateralSymbol === collateral.symbol,
  )
  if (candidates.length === 0) throw new UnverifiedTransactionError('reduceOnly', 'a position to reduce', 'none')
  for (const position of candidates) {
    if (left < unit) break
    const terms = { position, size: left, sizeText: body.size, price: body.price, slippage: body.slippage }
    left = BaseSize.of(left - expectClosing(calls, terms, context))
  }
}

/** Returns the positions that a reduce-only order can close, oldest first. */
export function reducible(positions: readonly Position[], { market, side }: CreateOrderRequest): readonly Position[] {
  return positions
    .filter((position) => position.market === market && position.side !== side)
    .toSorted((one, other) => one.openedAtBlock - other.openedAtBlock)
}
