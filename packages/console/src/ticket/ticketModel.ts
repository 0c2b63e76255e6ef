import type { MarketCollateral, MarketRecord, OrderBook } from '@bezel/protocol/wire'
import { decimal, roundSize, type NewOrder } from '@bezel/sdk'
import { formatAmount } from '../ground/format.ts'
import type { ChainTerms } from './chainTerms.ts'
import { depthSide, percentOfFraction } from './depth.ts'
import type { TicketDraft } from './draft.ts'
import {
  estimateSize,
  isBelowMinimum,
  minimumSize,
  sizeOfCollateral,
  type EstimatedOrder,
  type EstimateFacts,
  type OrderEstimate,
} from './estimate.ts'
import {
  balanceError,
  readAmount,
  readLeverage,
  readPrice,
  readSlippage,
  restWarning,
  stopError,
  triggerError,
  type Typed,
} from './fieldRules.ts'
import { stopValue, type StopFacts, type StopValue } from './stops.ts'

/** Facts about the market and the account that the ticket is computed from. */
export interface TicketFacts {
  readonly market: MarketRecord
  /** Mark of the market; null before the first price. */
  readonly mark: string | null
  readonly book: OrderBook | null
  /** Facts that only the chain tells; null until they are read. */
  readonly terms: ChainTerms | null
  readonly feeTierMultiplier: string | null
  /** Tokens of the chosen collateral in the wallet; null while they are not known. */
  readonly balance: string | null
  /** Size of the positions that a reduce-only order of the chosen side can close; null while they are not known. */
  readonly reducible: string | null
  /** A sentence that says why no market order is taken now; null while the market is open. */
  readonly closed: string | null
  /** A sentence that says why the price can't be trusted; null while it is live. */
  readonly stale: string | null
}

/** The fields that can be wrong. */
export type TicketField =
  'price' | 'size' | 'collateral' | 'leverage' | 'tp' | 'sl' | 'slippage' | 'market' | 'reduceOnly'

/** The ticket as it is shown: what was typed, what follows from it, and what is wrong. */
export interface TicketModel {
  readonly errors: Readonly<Partial<Record<TicketField, string>>>
  /** Hints beside a field that do not stand in the way of a review. */
  readonly warnings: Readonly<Partial<Record<'price' | 'collateral' | 'size', string>>>
  /** Text of the size field and of the collateral field: one as typed, the other computed. */
  readonly size: string
  readonly collateralAmount: string
  readonly estimate: OrderEstimate | null
  readonly tp: StopValue | null
  readonly sl: StopValue | null
  /** The facts for a change of a stop's unit; null without a price. */
  readonly stopFacts: StopFacts | null
  /** The order to review; null while something is missing or wrong. */
  readonly request: NewOrder | null
  /** The obstacle to a review, in a sentence; null when there is none. */
  readonly blocker: string | null
}

/** Returns the collateral that an order takes: the chosen one, else USDC, else the first. */
export function collateralOf(market: MarketRecord, symbol: string | null): MarketCollateral | undefined {
  const { collaterals } = market
  const find = (name: string | null): MarketCollateral | undefined => collaterals.find((token) => token.symbol === name)
  return find(symbol) ?? find('USDC') ?? collaterals[0]
}

/** Computes the whole ticket from what was typed and what is known. */
export function ticketModel(draft: TicketDraft, facts: TicketFacts): TicketModel {
  const { market } = facts
  const token = collateralOf(market, draft.collateral)
  const price = draft.type === 'market' ? null : readPrice(draft.price, market)
  const leverage = readLeverage(draft.leverage, market)
  const slippage = readSlippage(draft.slippage)
  const typed = readTyped(draft, market, token)
  const order = orderOf(draft, price, leverage)
  const inputs = order === null || token === undefined ? null : estimateFacts(draft, facts, token)
  const amounts = amountsOf(draft, typed, order, inputs)
  const stops = stopsOf(draft, facts, order, amounts.estimate)
  const below = draft.reduceOnly ? null : sizeError(draft, typed, amounts, order, inputs)
  const errors = present({
    price: price?.error ?? priceError(draft, price, facts, slippage),
    [draft.amountBy]: typed.error ?? below,
    leverage: draft.reduceOnly ? null : leverage.error,
    slippage: slippage.error,
    tp: stops.tpError,
    sl: stops.slError,
    market: facts.stale ?? (draft.type === 'market' ? facts.closed : null),
    reduceOnly: draft.reduceOnly ? reduceError(draft, facts) : null,
  })
  const needed = amounts.estimate?.collateral
  const warnings = present({
    price: order === null || facts.mark === null || errors.price !== undefined ? null : restWarning(order, facts.mark),
    collateral:
      needed === undefined || draft.reduceOnly ? null : balanceError(needed, facts.balance, token?.symbol ?? ''),
    size: draft.reduceOnly ? moreThanHeld(amounts.size, facts) : null,
  })
  const blocker = Object.values(errors)[0] ?? todo(draft, { price, leverage, slippage, typed }, facts, token)
  return {
    errors,
    warnings,
    size: draft.amountBy === 'size' ? draft.amount : amounts.size,
    collateralAmount: draft.amountBy === 'collateral' ? draft.amount : (needed ?? ''),
    estimate: amounts.estimate,
    tp: stops.tp,
    sl: stops.sl,
    stopFacts: stops.facts,
    request: blocker === null ? requestOf(draft, facts, amounts.size, stops, token) : null,
    blocker,
  }
}

function readTyped(draft: TicketDraft, market: MarketRecord, token: MarketCollateral | undefined): Typed {
  if (draft.amountBy === 'size') return readAmount(draft.amount, market.sizePrecision, 'The size')
  return readAmount(draft.amount, token?.decimals ?? 0, 'The collateral')
}

/** Returns the terms that an estimate depends on; null while one of them is missing or wrong. */
function orderOf({ side, type, reduceOnly }: TicketDraft, price: Typed | null, leverage: Typed): EstimatedOrder | null {
  if (price !== null && price.value === null) return null
  if (leverage.value === null) return reduceOnly ? { side, type, price: null, leverage: '1' } : null
  return { side, type, price: price?.value ?? null, leverage: leverage.value }
}

function estimateFacts({ side }: TicketDraft, facts: TicketFacts, token: MarketCollateral): EstimateFacts | null {
  const { market, mark, book, terms, feeTierMultiplier } = facts
  if (mark === null) return null
  const depth = depthSide(book, side, percentOfFraction(market.spreadRate) / 2n)
  return { market, mark, depth, collateral: token, terms, feeTierMultiplier }
}

interface Amounts {
  /** Size in base units; empty while it is not known. */
  readonly size: string
  readonly estimate: OrderEstimate | null
}

/** Links size, collateral and leverage: what was typed decides, the other follows. */
function amountsOf(
  draft: TicketDraft,
  typed: Typed,
  order: EstimatedOrder | null,
  inputs: EstimateFacts | null,
): Amounts {
  if (typed.value === null) return { size: '', estimate: null }
  const isBySize = draft.amountBy === 'size'
  if (order === null || inputs === null) return { size: isBySize ? typed.value : '', estimate: null }
  const size = isBySize ? typed.value : sizeOfCollateral(order, typed.value, inputs)
  if (decimal.compare(size, '0') <= 0) return { size: '', estimate: null }
  return { size, estimate: draft.reduceOnly ? null : estimateSize(order, size, inputs) }
}

const TOO_MUCH = 'That is more than this market takes at once. Enter less.'

/** Returns what is wrong with an amount: less than the contracts take, with the bound, or more than the market has. */
function sizeError(
  { amountBy }: TicketDraft,
  typed: Typed,
  { estimate }: Amounts,
  order: EstimatedOrder | null,
  inputs: EstimateFacts | null,
): string | null {
  if (typed.value === null || order === null || inputs === null) return null
  if (estimate !== null && !isBelowMinimum(estimate, inputs)) return estimate.price === '0' ? TOO_MUCH : null
  const least = minimumSize(order, inputs)
  const { collateral } = estimateSize(order, least, inputs)
  const { symbol } = inputs.collateral
  if (amountBy === 'size')
    return `At least ${least} at this leverage, which takes ${formatAmount(collateral, { symbol })}.`
  if (decimal.compare(typed.value, collateral) >= 0) return TOO_MUCH
  return `At least ${formatAmount(collateral, { symbol })} at this leverage, for a size of ${least}.`
}

interface Stops {
  readonly facts: StopFacts | null
  readonly tp: StopValue | null
  readonly sl: StopValue | null
  readonly tpError: string | null
  readonly slError: string | null
}

const NO_STOPS: Stops = { facts: null, tp: null, sl: null, tpError: null, slError: null }

function stopsOf(
  draft: TicketDraft,
  { mark, market }: TicketFacts,
  order: EstimatedOrder | null,
  estimate: OrderEstimate | null,
): Stops {
  if (draft.reduceOnly || order === null || mark === null) return NO_STOPS
  const anchor = order.price ?? mark
  const entry = order.price ?? estimate?.price ?? mark
  const facts: StopFacts = { side: draft.side, entry, leverage: order.leverage, market }
  const [tp, sl] = [stopValue('tp', draft.tp, facts), stopValue('sl', draft.sl, facts)]
  const bound = { side: draft.side, anchor, market }
  return { facts, tp, sl, tpError: stopError('tp', tp, bound), slError: stopError('sl', sl, bound) }
}

function priceError(draft: TicketDraft, price: Typed | null, { mark }: TicketFacts, slippage: Typed): string | null {
  if (price === null || price.value === null || mark === null || slippage.value === null) return null
  return triggerError(draft, price.value, { mark, slippage: slippage.value })
}

function reduceError({ side }: TicketDraft, { reducible }: TicketFacts): string | null {
  if (reducible === null || decimal.compare(reducible, '0') > 0) return null
  const other = side === 'long' ? 'short' : 'long'
  return `There is no ${other} position in this market that a ${side} order would reduce.`
}

function moreThanHeld(size: string, { reducible, market }: TicketFacts): string | null {
  if (size === '' || reducible === null || decimal.compare(size, reducible) <= 0) return null
  return `You hold ${roundSize(market, reducible)} ${market.base} on the other side: all of it is closed, and nothing opened.`
}

interface Reads {
  readonly price: Typed | null
  readonly leverage: Typed
  readonly slippage: Typed
  readonly typed: Typed
}

/** Returns what is still to be typed or known before a review. */
function todo(
  draft: TicketDraft,
  reads: Reads,
  facts: TicketFacts,
  token: MarketCollateral | undefined,
): string | null {
  if (token === undefined) return 'This market takes no collateral now. Choose another market.'
  if (facts.mark === null) return 'There is no price of this market yet. It comes by itself.'
  if (reads.price !== null && reads.price.value === null) return `Enter the price of the ${draft.type} order.`
  if (reads.typed.value === null) return draft.amountBy === 'size' ? 'Enter a size.' : 'Enter the collateral.'
  if (reads.leverage.value === null && !draft.reduceOnly) return 'Enter the leverage.'
  return reads.slippage.value === null ? 'Enter the slippage.' : null
}

function requestOf(
  draft: TicketDraft,
  { market }: TicketFacts,
  size: string,
  { tp, sl }: Stops,
  token: MarketCollateral | undefined,
): NewOrder | null {
  if (size === '') return null
  const { side, type, slippage, reduceOnly } = draft
  const leverage = readLeverage(draft.leverage, market).value ?? market.minLeverage
  const terms = { market: market.symbol, side, size, leverage, slippage: readSlippage(slippage).value ?? slippage }
  // A reduction takes the collateral of the position that it closes.
  if (reduceOnly) return { ...terms, type: 'market', reduceOnly: true }
  const rest = {
    ...terms,
    ...(token === undefined ? {} : { collateral: token.symbol }),
    ...(tp === null ? {} : { tp: tp.price }),
    ...(sl === null ? {} : { sl: sl.price }),
  }
  if (type === 'market') return { ...rest, type }
  return { ...rest, type, price: readPrice(draft.price, market).value ?? draft.price }
}

/** Leaves out what is null. */
function present<Name extends string>(
  found: Readonly<Partial<Record<Name, string | null>>>,
): Partial<Record<Name, string>> {
  const kept = Object.entries<string | null | undefined>(found).filter(([, text]) => typeof text === 'string')
  return Object.fromEntries(kept) as Partial<Record<Name, string>>
}
