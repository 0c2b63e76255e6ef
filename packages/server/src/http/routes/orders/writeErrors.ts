import type { ErrorCode } from '@bezel/protocol'

/** Codes of every operation that prepares a transaction. */
export const PREPARE_ERRORS: readonly ErrorCode[] = ['SCOPE_MARKET_NOT_ALLOWED', 'SIMULATION_REVERTED']

/** Codes of the operations that change or close an existing position. */
export const CHANGE_ERRORS: readonly ErrorCode[] = [
  ...PREPARE_ERRORS,
  'MARKET_NOT_FOUND',
  'MARKET_CLOSED',
  'COLLATERAL_NOT_SUPPORTED',
  'PRECISION_ERROR',
]

/** Codes of the operations that open or may enlarge a position. */
export const OPEN_ERRORS: readonly ErrorCode[] = [
  ...CHANGE_ERRORS,
  'SCOPE_LEVERAGE_EXCEEDED',
  'SCOPE_SPEND_CAP_EXCEEDED',
  'LEVERAGE_OUT_OF_RANGE',
  'SIZE_BELOW_MINIMUM',
]

/**
 * Codes of the operations on many orders and positions. They leave out whatever the contracts or a market refuse, and
 * name the code there.
 */
export const BATCH_ERRORS: readonly ErrorCode[] = ['SCOPE_MARKET_NOT_ALLOWED', 'MARKET_NOT_FOUND', 'PRECISION_ERROR']
