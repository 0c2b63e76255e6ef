import { Type, type Static } from '@sinclair/typebox'
import { Closed, DecimalSchema } from './scalars.ts'

/**
 * Kinds of warnings: the contracts move a stop loss nearer than asked, a change of collateral is rounded down to what
 * they can do, the price that was used is old, a slippage stays with a position and may keep its stops from executing,
 * or such a slippage is put back to the default.
 */
export const WARNING_CODES = [
  'sl_clamped',
  'collateral_rounded',
  'price_old',
  'closing_slippage_kept',
  'closing_slippage_reset',
] as const

/**
 * A difference between what was asked and what will happen, in an answer that is a success all the same. `field` is the
 * field of the request, `asked` its value there and `value` what it becomes; a warning that concerns none has none.
 */
export const WarningSchema = Closed({
  code: Type.Union(WARNING_CODES.map((code) => Type.Literal(code))),
  field: Type.Optional(Type.String()),
  asked: Type.Optional(DecimalSchema),
  value: Type.Optional(DecimalSchema),
  message: Type.String(),
})
export type Warning = Static<typeof WarningSchema>

/** The field of answers that carry warnings; absent when there is none. */
export const WarningsSchema = Type.Optional(Type.Array(WarningSchema))
