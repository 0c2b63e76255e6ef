import { AddressSchema, CANDLE_INTERVALS, ChainSlugSchema, IdSchema, TimestampSchema } from '@bezel/protocol'
import { Type, type TSchema } from '@sinclair/typebox'
import { DEFAULT_CANDLES, MAX_CANDLES } from '../../market/candles/limits.ts'
import { DEFAULT_BOOK_LEVELS, MAX_BOOK_LEVELS } from '../../market/orderBook.ts'

/** A parameter of a query as the reference describes it. */
export interface QueryParameter {
  readonly schema: TSchema
  readonly description: string
}

export const CURSOR: QueryParameter = { schema: Type.String(), description: '`nextCursor` of the page before.' }

/** How many at most. */
export function COUNT(byDefault: number): QueryParameter {
  const schema = Type.Integer({ minimum: 1, maximum: 500, default: byDefault })
  return { schema, description: 'How many at most.' }
}

export const LEVELS: QueryParameter = {
  schema: Type.Integer({ minimum: 1, maximum: MAX_BOOK_LEVELS, default: DEFAULT_BOOK_LEVELS }),
  description: 'How many levels of each side at most.',
}

export const AFTER: QueryParameter = {
  schema: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, default: 0 }),
  description: '`seq` of the last event that is known: those after it are told.',
}

export const INTERVAL: QueryParameter = {
  schema: Type.Union(
    Object.keys(CANDLE_INTERVALS).map((interval) => Type.Literal(interval)),
    { default: '1h' },
  ),
  description: 'Width of a candle.',
}

export const FROM: QueryParameter = {
  schema: TimestampSchema,
  description: `Candles that begin then or later, at most ${MAX_CANDLES}; ${DEFAULT_CANDLES} intervals before \`to\` by default.`,
}

export const TO: QueryParameter = {
  schema: TimestampSchema,
  description: 'Candles that begin then or before; now by default.',
}

/** What stands in paths. A route that does not know one gets plain text. */
export const PATH_PARAMETERS: Readonly<Record<string, QueryParameter>> = {
  chain: { schema: ChainSlugSchema, description: 'Name of the chain.' },
  symbol: { schema: Type.String(), description: 'Market, as `BTC-USD` or `BTC%2FUSD`.' },
  address: { schema: AddressSchema, description: 'Address of the account or the agent.' },
  id: { schema: IdSchema, description: 'Id of the order or the position.' },
}

/** The headers that go with the signature's, by the name of their component. */
export const SIGNED_HEADERS = {
  AgentHeader: { suffix: 'Agent', schema: AddressSchema, description: 'Address of the agent that signed.' },
  TimestampHeader: {
    suffix: 'Timestamp',
    schema: Type.String({ pattern: '^(?:0|[1-9]\\d{0,15})$' }),
    description: 'Epoch milliseconds, as signed; within 30 s of server time.',
  },
  NonceHeader: {
    suffix: 'Nonce',
    schema: Type.String({ pattern: '^(?:0|[1-9]\\d{0,77})$' }),
    description: 'A whole number this agent never used before, as signed.',
  },
} as const
