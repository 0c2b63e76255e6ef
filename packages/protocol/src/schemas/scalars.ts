import { Type, type TSchema } from '@sinclair/typebox'
import { ADDRESS_PATTERN, HEX_PATTERN, ORDER_ID_PATTERN, MARKET_SYMBOL_PATTERN } from '../values/identifiers.ts'
import { CHAIN_SLUGS } from '../values/chains.ts'
import { DECIMAL_PATTERN, MAX_DECIMAL_CHARS } from '../values/decimal.ts'

// The scalars of the interface, shared by answers and requests.

export const ChainSlugSchema = Type.Union(CHAIN_SLUGS.map((slug) => Type.Literal(slug)))

export const AddressSchema = Type.String({ pattern: ADDRESS_PATTERN.source })

export const HexSchema = Type.String({ pattern: HEX_PATTERN.source })

export const DecimalSchema = Type.String({ pattern: DECIMAL_PATTERN.source, maxLength: MAX_DECIMAL_CHARS })

/** An amount of a token in an answer. An unlimited allowance is longer than a request may be. */
export const AmountSchema = Type.String({ pattern: DECIMAL_PATTERN.source })

export const MarketSymbolSchema = Type.String({ pattern: MARKET_SYMBOL_PATTERN.source })

export const IdSchema = Type.String({ pattern: ORDER_ID_PATTERN.source })

/** A time in epoch milliseconds. */
export const TimestampSchema = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })

export const SideSchema = Type.Union([Type.Literal('long'), Type.Literal('short')])

/** Creates the schema of a value that may be null. */
export function Nullable<Schema extends TSchema>(schema: Schema) {
  return Type.Union([schema, Type.Null()])
}

/** Creates the schema of a resource or body that refuses fields beyond the named ones. */
export function Closed<const Fields extends Record<string, TSchema>>(fields: Fields) {
  return Type.Object(fields, { additionalProperties: false })
}
