import { readInput, writeInput, type CallNode } from './callTree.ts'
import type { Shape } from './sampleShapes.ts'

// The bounds of the check, told once more: from the promise in the README and with floating point numbers, not with the
// code of the check. A changed transaction within them may be accepted, and every other one must be refused.

/** Values this near to a bound are taken for within it, because floating point numbers are not exact. */
const GREY = 1e-9

interface Opened {
  readonly openPrice: bigint
  readonly collateralAmount: bigint
  readonly long: boolean
  readonly leverage: number
}

/** Returns true when a changed transaction differs by nothing but prices and amounts, and by no more than is stated. */
export function isWithinBounds(shape: Shape, changed: Shape['prepared']): boolean {
  const { transaction, order, position } = shape.prepared
  const { data, ...rest } = changed.transaction
  const isSameElsewhere =
    rest.to === transaction.to &&
    rest.value === transaction.value &&
    rest.chainId === transaction.chainId &&
    changed.order?.id === order?.id &&
    changed.position?.id === position?.id
  if (!isSameElsewhere) return false
  const is = plainInput(data)
  if (is === undefined) return false
  const was = readInput(transaction.data)
  const isSameTree = was.actsFor === is.actsFor && was.tail === is.tail && was.calls.length === is.calls.length
  return isSameTree && is.calls.every((call, place) => isCallWithin(shape, was.calls[place]!, call))
}

/** Takes an input apart; `undefined` when it is not the plain encoding of calls that are known. */
function plainInput(data: string): ReturnType<typeof readInput> | undefined {
  try {
    const tree = readInput(data.toLowerCase())
    return writeInput(tree) === data.toLowerCase() ? tree : undefined
  } catch {
    return undefined
  }
}

function isCallWithin(shape: Shape, was: CallNode, is: CallNode): boolean {
  if (was.name !== is.name) return false
  if (is.name === 'openTrade') {
    const [before, after] = [was.args[0] as Opened, is.args[0] as Opened]
    const same = { openPrice: 0n, collateralAmount: 0n }
    const isSameElse =
      textOf([{ ...before, ...same }, ...was.args.slice(1)]) === textOf([{ ...after, ...same }, ...is.args.slice(1)])
    return isSameElse && isOpeningWithin(shape, before, after)
  }
  const isClose = is.name === 'closeTradeMarket' || is.name === 'decreasePositionSize'
  if (!isClose) return textOf(was.args) === textOf(is.args)
  return (
    textOf(was.args.slice(0, -1)) === textOf(is.args.slice(0, -1)) &&
    (was.args.at(-1) === is.args.at(-1) || isPriceWithin(shape, is.args.at(-1) as bigint))
  )
}

/** Returns true for a price of the market at another moment, within the slippage; a named price is exact. */
function isPriceWithin(shape: Shape, price: bigint): boolean {
  const { price: named, slippage } = termsOf(shape)
  const expected = Number(shape.context.expectedPrice)
  if (named !== undefined || shape.context.expectedPrice === undefined) return false
  return isNear(Number(price) / 1e10, expected, slippage)
}

function isOpeningWithin(shape: Shape, before: Opened, after: Opened): boolean {
  const { context } = shape
  const { type, price: named, size, slippage } = termsOf(shape)
  if (after.openPrice !== before.openPrice && !(type === 'market' && isPriceWithin(shape, after.openPrice)))
    return false
  const mark = Number(context.expectedPrice)
  const reference = type === 'market' ? mark : passed(type, after.long, mark, Number(named))
  const token = Number(context.collateral.priceUsd)
  const notional = (Number(after.collateralAmount) / 10 ** context.collateral.decimals) * (after.leverage / 1e3) * token
  const roomOfToken = Number(context.collateral.priceTolerancePercent)
  if (!isNear(notional / size, reference, slippage + roomOfToken + (slippage * roomOfToken) / 100)) return false
  if (context.impactP === undefined) return true
  const counted = type === 'market' && named === undefined ? Number(after.openPrice) / 1e10 : reference
  // One unit of the token more, because amounts are rounded up, and one of the Diamond's price, which it truncates.
  const unit = token * (after.leverage / 1e3) * 10 ** -context.collateral.decimals + size * 1e-10
  const promised = size * counted * (1 + Number(context.impactP) / 1e12)
  return Math.abs(notional - promised) <= promised * (0.001 + GREY) + unit
}

function passed(type: 'limit' | 'stop', long: boolean, mark: number, trigger: number): number {
  return (type === 'limit') === long ? Math.min(mark, trigger) : Math.max(mark, trigger)
}

function isNear(value: number, base: number, percent: number): boolean {
  return Math.abs(value - base) <= base * (percent / 100 + GREY)
}

interface Terms {
  readonly type: 'market' | 'limit' | 'stop'
  readonly price: string | undefined
  readonly size: number
  readonly slippage: number
}

function termsOf({ request }: Shape): Terms {
  switch (request.operation) {
    case 'createOrder': {
      const { type, price, size, slippage } = request.body
      return { type, price, size: Number(size), slippage: Number(slippage ?? '1') }
    }
    case 'updateOrder': {
      const { order, body } = request
      const { price, size, slippage } = { ...order, ...body }
      return { type: order.type, price: price ?? undefined, size: Number(size), slippage: Number(slippage) }
    }
    case 'closePosition':
      return { type: 'market', price: undefined, size: 0, slippage: Number(request.body.slippage ?? '1') }
    default:
      return { type: 'market', price: '0', size: 0, slippage: 0 }
  }
}

function textOf(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) => (typeof part === 'bigint' ? `${part}` : part))
}
