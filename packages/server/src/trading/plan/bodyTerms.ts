import {
  ApiError,
  decimalPlaces,
  formatDecimal,
  parseDecimal,
  scaleDecimalTruncated,
  type Decimal,
} from '@bezel/protocol'
import { LEVERAGE_DECIMALS, PRICE_DECIMALS, SLIPPAGE_DECIMALS } from './decimals.ts'

/** One entry of `details.issues`. */
export interface Issue {
  readonly path: string
  readonly message: string
}

/** Numbers that bodies carry. */
export type TermName = 'size' | 'price' | 'leverage' | 'slippage' | 'sl' | 'tp' | 'amount'

interface Rule {
  /** Whether the smallest value itself is taken. */
  readonly isMinTaken: boolean
  readonly min: bigint
  readonly max: bigint | undefined
  /** What `min` and `max` are scaled by. */
  readonly decimals: number
}

/** All that a decimal of the longest accepted text can have, so that comparing rounds nothing. */
const EXACT_DECIMALS = 40

const MAX_UINT16 = 2n ** 16n - 1n
const MAX_UINT24 = 2n ** 24n - 1n
const MAX_UINT64 = 2n ** 64n - 1n

const PRICE_RULE: Rule = { isMinTaken: false, min: 0n, max: MAX_UINT64, decimals: PRICE_DECIMALS }
/** 0 is none. */
const TRIGGER_RULE: Rule = { ...PRICE_RULE, isMinTaken: true }
const AMOUNT_RULE: Rule = { isMinTaken: false, min: 0n, max: undefined, decimals: 0 }

/** What fits the Diamond's integers: nothing else is known about these numbers without a market. */
const RULES: Readonly<Record<TermName, Rule>> = {
  size: AMOUNT_RULE,
  amount: AMOUNT_RULE,
  price: PRICE_RULE,
  sl: TRIGGER_RULE,
  tp: TRIGGER_RULE,
  leverage: { isMinTaken: false, min: 0n, max: MAX_UINT24, decimals: LEVERAGE_DECIMALS },
  slippage: { isMinTaken: true, min: 1n, max: MAX_UINT16, decimals: SLIPPAGE_DECIMALS },
}

/** The given numbers of a body as canonical decimals. Throws `VALIDATION_ERROR` that names every number that no market would take. */
export function readTerms<Name extends TermName>(
  given: { readonly [N in Name]?: string | undefined },
  otherIssues: readonly Issue[] = [],
  at = 'body',
): { readonly [N in Name]?: Decimal } {
  const issues = [...otherIssues]
  const terms: { [N in Name]?: Decimal } = {}
  for (const name of Object.keys(given) as Name[]) {
    const text = given[name]
    if (text === undefined) continue
    const value = parseDecimal(text)
    if (value !== undefined && isWithin(value, RULES[name])) terms[name] = value
    else issues.push({ path: `${at}.${name}`, message: sentence(RULES[name]) })
  }
  refuseIssues(issues)
  return terms
}

/** Throws `VALIDATION_ERROR` when there are any. */
export function refuseIssues(issues: readonly Issue[]): void {
  const [first] = issues
  if (first === undefined) return
  throw new ApiError('VALIDATION_ERROR', `${first.path} ${first.message}.`, { issues })
}

/** `value` x 10^decimals, exactly. Throws `PRECISION_ERROR` when it has more than `maxDecimals` places: nothing is rounded for the caller. */
export function scaleTerm(
  field: string,
  value: Decimal,
  { maxDecimals, decimals }: { readonly maxDecimals: number; readonly decimals: number },
): bigint {
  requirePrecision(field, value, maxDecimals)
  return scaleDecimalTruncated(value, decimals)
}

export function requirePrecision(field: string, value: Decimal, maxDecimals: number): void {
  if (decimalPlaces(value) <= maxDecimals) return
  const message = `${field} has more than ${maxDecimals} decimals: ${value}.`
  throw new ApiError('PRECISION_ERROR', message, { field, value, maxDecimals })
}

function isWithin(value: Decimal, { isMinTaken, min, max, decimals }: Rule): boolean {
  const exact = scaleDecimalTruncated(value, EXACT_DECIMALS)
  const unit = 10n ** BigInt(EXACT_DECIMALS - decimals)
  if (max !== undefined && exact > max * unit) return false
  return isMinTaken ? exact >= min * unit : exact > min * unit
}

function sentence({ isMinTaken, min, max, decimals }: Rule): string {
  const lower = `must be ${isMinTaken ? 'at least' : 'above'} ${formatDecimal(min, decimals)}`
  return max === undefined ? lower : `${lower} and at most ${formatDecimal(max, decimals)}`
}
