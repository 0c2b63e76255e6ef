import { ShownNumber, parseDecimal } from '@bezel/protocol/wire'
import { decimal, type Account, type Order, type Position } from '@bezel/sdk'
import { totalsOf } from '../portfolio/valuation.ts'
import type { WorthNow } from './equity.ts'

/** Possessions of an account, as its log tells them. */
export interface Holdings {
  readonly account: Account
  readonly positions: readonly Position[]
  readonly orders: readonly Order[]
  /** Returns the newest mark of a market, if there is one. */
  readonly markOf: (market: string) => string | undefined
}

/** Returns what an account is worth in one collateral: in the wallet, in positions, and held by orders. */
export function worthNow(holdings: Holdings, collateralSymbol: string, atMs: number): WorthNow {
  const { account, positions, orders, markOf } = holdings
  const isMeant = (position: Position): boolean => position.collateralSymbol === collateralSymbol
  const held = positions.filter(isMeant)
  const balance = account.balances.find(({ collateral }) => collateral === collateralSymbol)?.balance ?? '0'
  const free = decimal.add(balance, heldByOrders(orders, collateralSymbol))
  const booked = held.reduce(
    (sum, { collateral, realized }) => decimal.add(sum, decimal.add(collateral, realized)),
    free,
  )
  const worth = totalsOf(held, markOf)[0]?.worth ?? '0'
  return { booked, live: decimal.add(free, worth), atMs }
}

/** Tokens that stand for a dollar, so that the collateral of an order follows from its size. */
const DOLLARS = ['USDC', 'USDT', 'DAI', 'BTCUSD']

const HOLDING: readonly Order['status'][] = ['pending', 'open', 'timed_out']

/** Returns the collateral that orders hold, about: size x price / leverage. Of a token that is no dollar, 0. */
export function heldByOrders(orders: readonly Order[], collateralSymbol: string): string {
  if (!DOLLARS.includes(collateralSymbol)) return '0'
  return orders
    .filter(({ status, collateral, reduceOnly }) => {
      return HOLDING.includes(status) && collateral === collateralSymbol && !reduceOnly
    })
    .reduce((sum, { size, price, leverage }) => {
      return price === null ? sum : decimal.add(sum, quotient(decimal.mul(size, price), leverage))
    }, '0')
}

/** Divides, and cuts off after 6 decimals. */
function quotient(amount: string, by: string): string {
  const [above, below] = [parseDecimal(amount), parseDecimal(by)]
  if (above === undefined || below === undefined) return '0'
  const divisor = ShownNumber.parseTruncated(below)
  if (divisor === 0n) return '0'
  const value = (ShownNumber.parseTruncated(above) * ShownNumber.one) / divisor
  return ShownNumber.format(ShownNumber.of(value - (value % 10n ** 12n)))
}
