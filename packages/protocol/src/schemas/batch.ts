import { Type, type Static } from '@sinclair/typebox'
import { ERRORS, type ErrorCode } from '../values/errors.ts'
import { DEFAULT_SLIPPAGE } from '../values/scales.ts'
import { OrderSchema, PreparedTransactionSchema } from './order.ts'
import { Annotated, Closed, DecimalSchema, IdSchema, MarketSymbolSchema, Nullable, OneOf } from './scalars.ts'
import { WARNINGS, WarningsSchema } from './warning.ts'

/** The most orders and positions that one page of a batch looks at. */
export const MAX_BATCH_LEGS = 20

/** The cursor of a batch: the letter of an order or a position, and the id of the last one that was looked at. */
export const BATCH_NEXT_PATTERN = /^[op][1-9]\d{0,15}$/

const NextSchema = Annotated(Type.String({ pattern: BATCH_NEXT_PATTERN.source }), { examples: ['o1042', 'p1061'] })

/** The fields of a batch as the reference describes them. A batch of orders takes them as query parameters. */
export const BATCH_FIELDS = {
  market: Annotated(MarketSymbolSchema, {
    description: 'Only what belongs to this market. Default: all markets.',
    examples: ['BTC/USD'],
  }),
  slippage: Annotated(DecimalSchema, {
    description: `Greatest difference between the mark and the execution price of each close, in percent: \`1\` is 1 %. From 0.001 to 65.535, with at most 3 decimals. Default ${DEFAULT_SLIPPAGE}.`,
    default: DEFAULT_SLIPPAGE,
    examples: ['2.5'],
  }),
  next: Annotated(NextSchema, {
    description: '`next` of the previous answer, to go on where it ended. Default: from the beginning.',
  }),
}

export const FlattenRequestSchema = Closed(
  {
    market: Type.Optional(BATCH_FIELDS.market),
    slippage: Type.Optional(BATCH_FIELDS.slippage),
    next: Type.Optional(BATCH_FIELDS.next),
  },
  {},
  { title: 'FlattenRequest', description: 'A close of many positions at market. The body may be left out.' },
)
export type FlattenRequest = Static<typeof FlattenRequestSchema>

export const LeftOutSchema = Closed(
  {
    id: Annotated(IdSchema, { examples: ['1042'] }),
    code: Annotated(OneOf(Object.keys(ERRORS) as ErrorCode[]), { examples: ['SIMULATION_REVERTED'] }),
    message: Annotated(Type.String(), {
      examples: ['The contracts would revert with ConflictingPendingOrder. Another request of the trade waits.'],
    }),
  },
  {
    id: 'Id of the order or position that stays as it is.',
    code: 'Code of the error that a request for it alone would answer.',
    message: 'The reason in words, for people.',
  },
  {
    title: 'LeftOut',
    description: 'An order or a position that a batch leaves as it is, so that the others are not held up by it.',
  },
)
export type LeftOut = Static<typeof LeftOutSchema>

export const PreparedBatchSchema = Closed(
  {
    orders: Type.Array(OrderSchema, { maxItems: MAX_BATCH_LEGS }),
    leftOut: Type.Array(LeftOutSchema, { maxItems: MAX_BATCH_LEGS }),
    transaction: Nullable(PreparedTransactionSchema),
    next: Annotated(Nullable(NextSchema), { examples: ['o1042'] }),
    warnings: WarningsSchema,
  },
  {
    orders: `Orders that the transaction cancels, reclaims or makes, and prepared ones that have expired with this request; at most ${MAX_BATCH_LEGS}, in the order of the transaction's calls.`,
    leftOut: `Orders and positions that stay as they are, each with its reason; at most ${MAX_BATCH_LEGS}.`,
    transaction: 'Transaction of all of `orders` together, to sign and send; null when nothing has to reach the chain.',
    next: '`next` of the request for what follows; null when nothing does.',
    warnings: WARNINGS,
  },
  {
    title: 'PreparedBatch',
    description: 'Many orders and closes in one transaction: all of them are mined, or none.',
  },
)
export type PreparedBatch = Static<typeof PreparedBatchSchema>
