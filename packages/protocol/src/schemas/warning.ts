import { Type, type Static } from '@sinclair/typebox'
import { Closed, DecimalSchema, OneOf } from './scalars.ts'

/**
 * Kinds of warnings: the contracts move a stop loss nearer than asked, a change of collateral is rounded down to what
 * they can do, the price that was used is old, a slippage stays with a position and may keep its stops from executing,
 * such a slippage is put back to the default, or an order executes at once instead of resting.
 */
export const WARNING_CODES = [
  'sl_clamped',
  'collateral_rounded',
  'price_old',
  'closing_slippage_kept',
  'closing_slippage_reset',
  'marketable',
] as const
/** Kind of a warning. */
export type WarningCode = (typeof WARNING_CODES)[number]

const WarningCodeSchema = OneOf(WARNING_CODES, {
  title: 'WarningCode',
  description:
    '`sl_clamped`: the contracts keep a stop loss away from the liquidation price. `collateral_rounded`: collateral moves in steps of 0.001 of leverage. `price_old`: the price that was used is older than 10 seconds. `closing_slippage_kept`: the contracts keep the slippage of a close with the position, and its stop loss and take profit execute only within it. `closing_slippage_reset`: such a slippage is put back to the default of 1 percent with the stops that are set. `marketable`: the market price has reached the price of a limit or stop order, which does not rest and executes at about the market price, `value`.',
})

export const WarningSchema = Closed(
  {
    code: WarningCodeSchema,
    field: Type.Optional(Type.String()),
    asked: Type.Optional(DecimalSchema),
    value: Type.Optional(DecimalSchema),
    message: Type.String(),
  },
  {
    code: 'Stable kind of the warning.',
    field: 'Field of the request that it is about; absent when it is about none.',
    asked: 'Value of that field in the request, in the unit of the field.',
    value: 'Value that will hold instead, in the unit of the field.',
    message: 'The warning in words, for people.',
  },
  {
    title: 'Warning',
    description:
      'A difference between what was asked and what will happen, in an answer that is a success all the same.',
  },
)
export type Warning = Static<typeof WarningSchema>

/** The field of answers that carry warnings; absent when there is none. */
export const WarningsSchema = Type.Optional(Type.Array(WarningSchema))

export const WARNINGS = 'Differences between what was asked and what will happen; absent when there are none.'
