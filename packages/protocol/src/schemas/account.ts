import { Type, type Static } from '@sinclair/typebox'
import { AgentSchema } from './agent.ts'
import { AddressSchema, AmountSchema, Closed, DecimalSchema, Nullable } from './scalars.ts'

/** `allowance` is what the trader lets the Diamond take. */
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
