import { Type, type Static } from '@sinclair/typebox'
import { AgentSchema } from './agent.ts'
import { AddressSchema, AmountSchema, Closed, DecimalSchema, Nullable, TimestampSchema } from './scalars.ts'
import { OrderSchema } from './order.ts'
import { PositionSchema } from './position.ts'

/** A balance of one token. `allowance` is what the trader lets the Diamond take. */
export const BalanceSchema = Closed({ collateral: Type.String(), balance: AmountSchema, allowance: AmountSchema })

export type Balance = Static<typeof BalanceSchema>

export const AccountSchema = Closed({
  address: AddressSchema,
  balances: Type.Array(BalanceSchema),
  feeTierMultiplier: Nullable(DecimalSchema),
  referrer: Nullable(AddressSchema),
  agents: Type.Array(AgentSchema),
})

export type Account = Static<typeof AccountSchema>

/**
 * The number of an event. Its description keeps it apart from a timestamp, which has the same bounds, wherever equal
 * schemas are merged.
 */
export const SeqSchema = Type.Integer({
  minimum: 0,
  maximum: Number.MAX_SAFE_INTEGER,
  description: 'Place in a log or a series of messages. The first one is 1; of a log, 0 stands before it.',
})

const entry = {
  seq: SeqSchema,
  timestamp: TimestampSchema,
  /** Number of the block that caused the event; null when a request or the clock did. */
  block: Nullable(Type.Integer({ minimum: 0 })),
  /** True when a chain reorganisation changed the past. The data is what holds now. */
  reverted: Type.Boolean(),
}

/** An event of a log. `positions` is the whole list of open positions after the change. */
export const AccountEventSchema = Type.Union([
  Closed({ ...entry, channel: Type.Union([Type.Literal('orders'), Type.Literal('fills')]), data: OrderSchema }),
  Closed({ ...entry, channel: Type.Literal('positions'), data: Type.Array(PositionSchema) }),
  Closed({ ...entry, channel: Type.Literal('account'), data: AccountSchema }),
])

export type AccountEvent = Static<typeof AccountEventSchema>

export const EventPageSchema = Closed({ data: Type.Array(AccountEventSchema), lastSeq: SeqSchema })
