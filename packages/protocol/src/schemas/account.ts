import { Type, type Static } from '@sinclair/typebox'
import { AgentSchema } from './agent.ts'
import { OrderSchema } from './order.ts'
import { PositionSchema } from './position.ts'
import {
  AddressSchema,
  AmountSchema,
  Annotated,
  Closed,
  DecimalSchema,
  Nullable,
  OneOf,
  TimestampSchema,
} from './scalars.ts'

export const BalanceSchema = Closed(
  { collateral: Type.String(), balance: AmountSchema, allowance: AmountSchema },
  {
    collateral: 'Symbol of the token.',
    balance: "Tokens in the trader's wallet.",
    allowance: 'Tokens that the trader lets the Diamond take. An opening needs at least its collateral.',
  },
  { title: 'Balance', description: 'The balance of one collateral, in whole tokens.' },
)
export type Balance = Static<typeof BalanceSchema>

export const AccountSchema = Closed(
  {
    address: AddressSchema,
    balances: Type.Array(BalanceSchema),
    feeTierMultiplier: Nullable(DecimalSchema),
    referrer: Annotated(Nullable(AddressSchema), { examples: ['0x8e32e79781136104B0dabBA623660d0Ab79875e5'] }),
    agents: Type.Array(AgentSchema),
  },
  {
    address: 'Address of the trader.',
    balances: 'Balance and allowance of each collateral of the chain.',
    feeTierMultiplier:
      'Factor of the trading fees by the fee tier of the trader: `1` pays the whole fee, `0.9` nine tenths of it. Null where the Diamond has no fee tiers.',
    referrer: 'Address that referred the trader on the Diamond; null when none did.',
    agents: 'Agents of the trader on this chain.',
  },
  { title: 'Account', description: 'The wallet of a trader on one chain, and the agents that act for it.' },
)
export type Account = Static<typeof AccountSchema>

export const SeqSchema = Type.Integer({
  title: 'Seq',
  minimum: 0,
  maximum: Number.MAX_SAFE_INTEGER,
  description: 'Place in a log or a series of messages. The first one is 1; of a log, 0 stands before it.',
})

/** The fields that every event of a log has. */
export const LOG_FIELDS = {
  seq: SeqSchema,
  timestamp: TimestampSchema,
  block: Annotated(Nullable(Type.Integer({ minimum: 0 })), { examples: [null] }),
  reverted: Type.Boolean(),
}

/** The texts of those fields. */
export const LOG_TEXTS = {
  seq: "Number of the event in the trader's log, which all four private channels share: 1, 2, 3, without a hole. Of a snapshot, the last event that it includes.",
  timestamp: 'Time of the event in epoch milliseconds.',
  block: 'Number of the block that caused the event; null when a request or the clock did.',
  reverted: 'True when a reorganisation of the chain changed the past. The data is what holds now.',
}

const ENTRY_TEXTS = { ...LOG_TEXTS, channel: 'Channel that the event belongs to.' }

export const AccountEventSchema = Type.Union(
  [
    Closed(
      { ...LOG_FIELDS, channel: OneOf(['orders', 'fills']), data: OrderSchema },
      { ...ENTRY_TEXTS, data: 'The order after the change; of `fills` an order that was filled.' },
    ),
    Closed(
      { ...LOG_FIELDS, channel: Type.Literal('positions'), data: Type.Array(PositionSchema) },
      { ...ENTRY_TEXTS, data: 'All open positions after the change.' },
    ),
    Closed(
      { ...LOG_FIELDS, channel: Type.Literal('account'), data: AccountSchema },
      { ...ENTRY_TEXTS, data: 'Balances, allowances and agents after the change.' },
    ),
  ],
  { title: 'AccountEvent', description: 'An event of the numbered log of an account.' },
)
export type AccountEvent = Static<typeof AccountEventSchema>

export const EventPageSchema = Closed(
  { data: Type.Array(AccountEventSchema), lastSeq: SeqSchema },
  {
    data: 'Events, oldest first.',
    lastSeq: 'Number of the last event of the whole log. Ask again with `after` while `data` ends before it.',
  },
  { title: 'EventPage', description: 'A part of the log of an account.' },
)
export type EventPage = Static<typeof EventPageSchema>
