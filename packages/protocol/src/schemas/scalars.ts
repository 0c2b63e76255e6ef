import { Type, type TObject, type TSchema } from '@sinclair/typebox'
import { ADDRESS_PATTERN, HEX_PATTERN, ORDER_ID_PATTERN, MARKET_SYMBOL_PATTERN } from '../values/identifiers.ts'
import { CHAIN_SLUGS } from '../values/chains.ts'
import { DECIMAL_PATTERN, MAX_DECIMAL_CHARS } from '../values/decimal.ts'

// The scalars of the interface, shared by answers and requests. A `title` is the name of a schema in the reference and
// in generated types.

/** Key under which an annotated copy of a schema keeps the schema itself. */
export const BASE = Symbol('bezel.baseSchema')

/** The keywords that explain a schema and check nothing. */
export interface Annotations {
  readonly description?: string
  /** Value that an absent field of a request stands for. */
  readonly default?: string | number | boolean
  /** Values for the reference, where no recorded answer has one. */
  readonly examples?: readonly unknown[]
}

/** Returns a copy of a schema with other annotations, which keeps its name. */
export function Annotated<Schema extends TSchema>(schema: Schema, annotations: Annotations): Schema {
  return { ...schema, ...annotations, [BASE]: (schema as { [BASE]?: TSchema })[BASE] ?? schema }
}

/** Creates the schema of a value that may be null. */
export function Nullable<Schema extends TSchema>(schema: Schema) {
  return Type.Union([schema, Type.Null()])
}

/** Creates the schema of one of several texts. A list with a name of its own in types has it as its `title`. */
export function OneOf<const Text extends string>(
  texts: readonly Text[],
  about: { readonly title?: string; readonly description?: string } = {},
) {
  return Type.Union(
    texts.map((text) => Type.Literal(text)),
    about,
  )
}

/**
 * Creates the schema of a resource or body that refuses fields beyond the named ones. `texts` has the meaning of each
 * field, with its unit, its default and the bounds that the schema does not show.
 */
export function Closed<const Fields extends Record<string, TSchema>>(
  fields: Fields,
  texts: { readonly [Name in keyof Fields]?: string } = {},
  about: { readonly title?: string; readonly description?: string } = {},
): TObject<Fields> {
  const described = Object.entries(fields).map(([name, schema]) => {
    const description = texts[name]
    return [name, description === undefined ? schema : Annotated(schema, { description })] as const
  })
  return Type.Object(Object.fromEntries(described) as Fields, { ...about, additionalProperties: false })
}

export const ChainSlugSchema = OneOf(CHAIN_SLUGS, { title: 'ChainSlug', description: 'Name of a chain in paths.' })

/** A text that starts with `0x`, as wallets and viem take it. */
type HexText = `0x${string}`

export const AddressSchema = Type.Unsafe<HexText>(
  Type.String({
    title: 'Address',
    pattern: ADDRESS_PATTERN.source,
    description:
      'Address of an account or a contract: `0x` and 40 hexadecimal digits. Answers use the mixed case of EIP-55.',
  }),
)

export const HexSchema = Type.Unsafe<HexText>(
  Type.String({
    title: 'Hex',
    pattern: HEX_PATTERN.source,
    description: 'Bytes in hexadecimal digits after `0x`.',
  }),
)

export const DecimalSchema = Type.String({
  title: 'Decimal',
  pattern: DECIMAL_PATTERN.source,
  maxLength: MAX_DECIMAL_CHARS,
  description:
    'A decimal number as text, so that no digit is lost. Answers have no exponent, no trailing zeros and no `-0`.',
})

/** An amount of a token in an answer. An unlimited allowance is longer than a request may be. */
export const AmountSchema = Type.String({
  title: 'Amount',
  pattern: DECIMAL_PATTERN.source,
  description: 'An amount as text. An unlimited allowance has more digits than a `Decimal`.',
})

export const MarketSymbolSchema = Type.String({
  title: 'MarketSymbol',
  pattern: MARKET_SYMBOL_PATTERN.source,
  description: 'Symbol of a market, `<base>/<quote>`. In paths `BTC-USD` and `BTC%2FUSD` are the same market.',
})

export const IdSchema = Type.String({
  title: 'Id',
  pattern: ORDER_ID_PATTERN.source,
  description:
    'Id of an order or a position: a whole number as text that fits 53 bits. It never changes and is never used again.',
})

export const TimestampSchema = Type.Integer({
  title: 'Timestamp',
  minimum: 0,
  maximum: Number.MAX_SAFE_INTEGER,
  description: 'A time in epoch milliseconds.',
})

export const SideSchema = OneOf(['long', 'short'], {
  title: 'Side',
  description: '`long` gains when the price rises, `short` when it falls.',
})

/** The cursor at the end of a page. */
export const NextCursorSchema = Nullable(Type.String())

export const NEXT_CURSOR = '`cursor` of the request for the next, older page; null on the last page.'

/** The cursor at the end of a list that comes as a whole unless a page of it is asked for. */
export const ListCursorSchema = Type.Optional(Annotated(NextCursorSchema, { examples: ['cDEwNDI'] }))

export const LIST_CURSOR =
  '`cursor` of the request for the next page; null on the last page. Absent when the request has neither `limit` nor `cursor`: then the list is whole.'

/** The remedy in `details` of an error. Optional in the documents: earlier versions of the service had none. */
export const RemedySchema = Type.Optional(
  Type.String({
    description: 'The change after which the request can pass, in words.',
    examples: ['Let the trader send `details.delegationTx` from its own wallet, once, and try again when it is mined.'],
  }),
)
