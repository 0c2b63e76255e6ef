import {
  CollateralAmount,
  DEFAULT_SLIPPAGE,
  parseDecimal,
  Price,
  Slippage,
  type Decimal,
  type Scale,
} from '@bezel/protocol/wire'
import { UnverifiedTransactionError } from '../errors/transactionErrors.ts'

/** A number exactly as the chain counts it. One with more decimals can't be what a transaction does. */
export function scaled<Value extends bigint>(field: string, text: string, scale: Scale<Value>): Value {
  return exactly(field, text, scale.decimals, scale.parse)
}

/** An amount of a token in the same way. */
export function collateralUnits(field: string, text: string, decimals: number): CollateralAmount {
  return exactly(field, text, decimals, (value) => CollateralAmount.parse(value, decimals))
}

function exactly<Value extends bigint>(
  field: string,
  text: string,
  decimals: number,
  parse: (value: Decimal) => Value | undefined,
): Value {
  const value = parseDecimal(text)
  const units = value === undefined ? undefined : parse(value)
  if (units === undefined) throw new UnverifiedTransactionError(field, `at most ${decimals} decimals`, text)
  return units
}

export function slippageUnits(slippage: string | undefined): Slippage {
  return scaled('slippage', slippage ?? DEFAULT_SLIPPAGE, Slippage)
}

/** The price of a take profit or stop loss; none is 0. */
export function triggerUnits(field: string, price: string | null | undefined): Price {
  return price === null || price === undefined ? Price.zero : scaled(field, price, Price)
}
