import { Type, type TSchema } from '@sinclair/typebox'
import { ADDRESS_PATTERN } from '../address.ts'
import { CHAIN_SLUGS } from '../chains.ts'
import { DECIMAL_PATTERN, MAX_DECIMAL_CHARS } from '../decimal.ts'
import { HEX_PATTERN } from '../hex.ts'
import { ORDER_ID_PATTERN } from '../orderId.ts'
import { MARKET_SYMBOL_PATTERN } from '../symbols.ts'

// Scalars of the interface. Answers and requests use the same ones.

export const ChainSlugSchema = Type.Union(CHAIN_SLUGS.map((slug) => Type.Literal(slug)))
export const AddressSchema = Type.String({ pattern: ADDRESS_PATTERN.source })
export const HexSchema = Type.String({ pattern: HEX_PATTERN.source })
export const DecimalSchema = Type.String({ pattern: DECIMAL_PATTERN.source, maxLength: MAX_DECIMAL_CHARS })
/** An amount of a token in an answer: an unlimited allowance is longer than what a request may say. */
export const AmountSchema = Type.String({ pattern: DECIMAL_PATTERN.source })
export const MarketSymbolSchema = Type.String({ pattern: MARKET_SYMBOL_PATTERN.source })
export const IdSchema = Type.String({ pattern: ORDER_ID_PATTERN.source })
/** Epoch milliseconds. */
export const TimestampSchema = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })
export const SideSchema = Type.Union([Type.Literal('long'), Type.Literal('short')])

export function Nullable<Schema extends TSchema>(schema: Schema) {
  return Type.Union([schema, Type.Null()])
}

/** A resource or body: fields beyond the named ones are refused. */
export function Closed<const Fields extends Record<string, TSchema>>(fields: Fields) {
  return Type.Object(fields, { additionalProperties: false })
}
