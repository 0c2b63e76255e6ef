import type { FillHistoryEntry, Order, Position } from '@bezel/protocol'
import { formatUnits, parseUnits } from 'viem'
import type { TokenWitness } from './tokenWitness.ts'

/** The service's answers about one trader, of one moment. */
export interface TraderBooks {
  /** All entries of the history of fills. */
  readonly fills: readonly FillHistoryEntry[]
  readonly openOrders: readonly Order[]
  readonly positions: readonly Position[]
}

/** A collateral token. */
interface Token {
  readonly symbol: string
  readonly decimals: number
}

/** The amounts of an entry, in units of the token. */
interface Amounts {
  readonly pnl: bigint
  readonly fees: bigint
  readonly deposit: bigint
  readonly payout: bigint
  readonly forfeited: bigint
  readonly netPnl: bigint
}

const ENDS: ReadonlySet<string> = new Set(['TradeClosedMarket', 'TradeClosedTP', 'TradeClosedSL', 'TradeClosedLIQ'])
const LIQUIDATION = 'TradeClosedLIQ'
/** Entries that close a part; all others have no price profit. */
const CLOSES: ReadonlySet<string> = new Set([...ENDS, 'TradePosSizeDecrease'])
const REFUSALS: ReadonlySet<string> = new Set(['TradeOpenRefused', 'TradeUpdateRefused'])
const HOLDING_STATUSES: ReadonlySet<Order['status']> = new Set(['open', 'pending', 'timed_out'])

/**
 * Checks the books of one trader in one collateral, to the last unit: the identity of all its tokens, the story of each
 * position, and the sums of each entry. Returns what is wrong in words; nothing when the books balance.
 */
export function problemsOfBooks(
  { fills, openOrders, positions }: TraderBooks,
  { taken, paid, held }: TokenWitness,
  token: Token,
): string[] {
  const entries = fills.filter(({ collateralSymbol }) => collateralSymbol === null || collateralSymbol === token.symbol)
  const unknown = entries.filter(isWithoutAmounts)
  if (unknown.length > 0) return unknown.map(({ id, action }) => `entry ${id} (${action}) has no amounts`)
  const units = (text: string): bigint => exactUnits(text, token)
  const booked = entries.map((entry) => ({ entry, amounts: amountsOf(entry, units) }))
  const open = positions.filter(({ collateralSymbol }) => collateralSymbol === token.symbol)
  const inUpdates = sum(open, ({ pendingUpdate }) => positive(units(pendingUpdate?.collateralDelta ?? '0')))
  const inPositions = sum(open, ({ collateral, realized }) => units(collateral) + units(realized))
  const netPnl = sum(booked, ({ amounts }) => amounts.netPnl)
  const deposits = sum(booked, ({ amounts }) => amounts.deposit)
  const payouts = sum(booked, ({ amounts }) => amounts.payout)
  const equal = (what: string, left: bigint, right: bigint): string[] =>
    left === right ? [] : [`${what}: off by ${formatUnits(left - right, token.decimals)} ${token.symbol}`]
  const isHolding = openOrders.some(
    ({ collateral, reduceOnly, status }) => collateral === token.symbol && !reduceOnly && HOLDING_STATUSES.has(status),
  )
  const tokens = `taken ${taken} - paid ${paid}`
  return [
    ...equal(
      `${tokens} = held ${held} + updates ${inUpdates} + positions ${inPositions} - netPnl ${netPnl}`,
      taken - paid,
      held + inUpdates + inPositions - netPnl,
    ),
    ...equal(
      `${tokens} = held ${held} + updates ${inUpdates} + deposits ${deposits} - payouts ${payouts}`,
      taken - paid,
      held + inUpdates + deposits - payouts,
    ),
    ...(held > 0n && !isHolding ? [`the chain holds ${held} for orders, and no open order is listed`] : []),
    ...booked.flatMap(({ entry, amounts }) => problemsOfEntry(entry, amounts)),
    ...[...Map.groupBy(booked, ({ entry }) => entry.positionId)].flatMap(([id, story]) =>
      story.some(({ entry }) => ENDS.has(entry.action))
        ? equal(
            `netPnl of position ${id} = payouts - deposits`,
            sum(story, ({ amounts }) => amounts.netPnl),
            sum(story, ({ amounts }) => amounts.payout - amounts.deposit),
          )
        : [],
    ),
  ]
}

/** An end without a payout may have forfeited what was below zero, a liquidation what was left. */
function problemsOfEntry({ id, action, size }: FillHistoryEntry, amounts: Amounts): string[] {
  const { pnl, fees, payout, forfeited, netPnl } = amounts
  const name = `entry ${id} (${action})`
  const isForfeiting = action === LIQUIDATION || (ENDS.has(action) && payout === 0n)
  return [
    ...(pnl - fees - forfeited === netPnl
      ? []
      : [`${name}: pnl ${pnl} - fees ${fees} - ${forfeited} is not ${netPnl}`]),
    ...(pnl === 0n || CLOSES.has(action) ? [] : [`${name}: a pnl of ${pnl}, and nothing was closed`]),
    ...((size === '0') === REFUSALS.has(action) ? [] : [`${name}: a size of ${size}`]),
    ...(forfeited === 0n || isForfeiting ? [] : [`${name}: forfeited ${forfeited} with a payout of ${payout}`]),
  ]
}

function isWithoutAmounts(entry: FillHistoryEntry): boolean {
  const { collateralSymbol, feeCollateral, fundingFee, borrowingFee, deposit, payout, forfeited, netPnl } = entry
  return [collateralSymbol, feeCollateral, fundingFee, borrowingFee, deposit, payout, forfeited, netPnl].includes(null)
}

function amountsOf(entry: FillHistoryEntry, units: (text: string) => bigint): Amounts {
  const { pnl, feeCollateral, fundingFee, borrowingFee, deposit, payout, forfeited, netPnl } = entry
  return {
    pnl: units(pnl),
    fees: units(feeCollateral!) + units(fundingFee!) + units(borrowingFee!),
    deposit: units(deposit!),
    payout: units(payout!),
    forfeited: units(forfeited!),
    netPnl: units(netPnl!),
  }
}

/** Parses an amount. Throws when it is finer than the token's unit. */
function exactUnits(text: string, { symbol, decimals }: Token): bigint {
  const found = parseUnits(text, decimals)
  if (formatUnits(found, decimals) !== text) throw new Error(`${text} is no canonical amount of ${symbol}`)
  return found
}

function sum<Item>(items: readonly Item[], of: (item: Item) => bigint): bigint {
  return items.reduce((total, item) => total + of(item), 0n)
}

function positive(units: bigint): bigint {
  return units > 0n ? units : 0n
}
