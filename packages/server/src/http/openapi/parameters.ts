import { AddressSchema, ChainSlugSchema, IdSchema } from '@bezel/protocol'
import { Type, type TSchema } from '@sinclair/typebox'

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

/** Names of the headers that carry credentials. */
export function credentialHeaders(prefix: string): readonly string[] {
  return ['Agent', 'Timestamp', 'Nonce', 'Signature', 'Api-Key'].map((suffix) => prefix + suffix)
}
