import { Type, type Static } from '@sinclair/typebox'
import { AccountSchema } from './account.ts'
import { OrderSchema } from './order.ts'
import { PositionSchema } from './position.ts'
import { Closed, Nullable, TimestampSchema } from './scalars.ts'

/** The channels of a trader's own events. Together they are one log with one dense `seq` per trader and chain. */
export const LOG_CHANNELS = ['orders', 'fills', 'positions', 'account'] as const
export type LogChannel = (typeof LOG_CHANNELS)[number]

export function isLogChannel(value: unknown): value is LogChannel {
  return (LOG_CHANNELS as readonly unknown[]).includes(value)
}

/** The description keeps it apart from a timestamp, which has the same bounds, wherever schemas are known again by what they say. */
export const SeqSchema = Type.Integer({
  minimum: 0,
  maximum: Number.MAX_SAFE_INTEGER,
  description: 'Place in a log or a series of messages. The first one is 1; of a log, 0 stands before it.',
})

const entry = {
  seq: SeqSchema,
  timestamp: TimestampSchema,
  /** The block that told it; null when a request or the clock did. */
  block: Nullable(Type.Integer({ minimum: 0 })),
  /** A reorganisation changed the past: the data is what holds now. */
  reverted: Type.Boolean(),
}

/** One event of a log. `positions` is the whole list of open positions after the change. */
export const AccountEventSchema = Type.Union([
  Closed({ ...entry, channel: Type.Union([Type.Literal('orders'), Type.Literal('fills')]), data: OrderSchema }),
  Closed({ ...entry, channel: Type.Literal('positions'), data: Type.Array(PositionSchema) }),
  Closed({ ...entry, channel: Type.Literal('account'), data: AccountSchema }),
])
export type AccountEvent = Static<typeof AccountEventSchema>

export const EventPageSchema = Closed({ data: Type.Array(AccountEventSchema), lastSeq: SeqSchema })
