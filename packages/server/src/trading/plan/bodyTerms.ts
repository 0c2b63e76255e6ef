import {
  ApiError,
  decimalPlaces,
  formatDecimal,
  Leverage,
  MAX_DECIMAL_CHARS,
  parseDecimal,
  Price,
  scaleDecimalTruncated,
  Slippage,
  type Decimal,
  type Scale,
} from '@bezel/protocol'

/** One entry of `details.issues`. */
export interface Issue {
  readonly path: string
  readonly message: string
}

/** The names of the numbers in request bodies. */
export type TermName = 'size' | 'price' | 'leverage' | 'slippage' | 'sl' | 'tp' | 'amount'

interface Rule {
  /** True when `min` itself is accepted. */
  readonly isMinTaken: boolean
  readonly min: bigint
  readonly max: bigint | undefined
  /** Decimals of the scale of `min` and `max`. */
  readonly decimals: number
}

const MAX_UINT16 = 2n ** 16n - 1n
const MAX_UINT24 = 2n ** 24n - 1n
const MAX_UINT64 = 2n ** 64n - 1n

const PRICE_RULE: Rule = { isMinTaken: false, min: 0n, max: MAX_UINT64, decimals: Price.decimals }
/** Rule of a stop loss or take profit; 0 means none. */
const TRIGGER_RULE: Rule = { ...PRICE_RULE, isMinTaken: true }
const AMOUNT_RULE: Rule = { isMinTaken: false, min: 0n, max: undefined, decimals: 0 }

/** The bounds of the Diamond's integers: without a market nothing else is known about these numbers. */
const RULES: Readonly<Record<TermName, Rule>> = {
  size: AMOUNT_RULE,
  amount: AMOUNT_RULE,
  price: PRICE_RULE,
  sl: TRIGGER_RULE,
  tp: TRIGGER_RULE,
  leverage: { isMinTaken: false, min: 0n, max: MAX_UINT24, decimals: Leverage.decimals },
  slippage: { isMinTaken: true, min: 1n, max: MAX_UINT16, decimals: Slippage.decimals },
}

/**
 * Reads the given numbers of a body as canonical decimals. Throws a `VALIDATION_ERROR` that lists every number that no
 * market would accept.
 */
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

/** Throws `VALIDATION_ERROR` when there are any issues. */
export function refuseIssues(issues: readonly Issue[]): void {
  const [first] = issues
  if (first === undefined) return
  throw new ApiError('VALIDATION_ERROR', `${first.path} ${first.message}.`, { issues })
}

/**
 * Converts a number to its scale, exactly. Throws `PRECISION_ERROR` when it has more than `maxDecimals` decimals:
 * nothing is rounded for the caller.
 */
export function scaleTerm<Value extends bigint>(
  field: string,
  value: Decimal,
  scale: Pick<Scale<Value>, 'parseTruncated'>,
  maxDecimals: number,
): Value {
  requirePrecision(field, value, maxDecimals)
  return scale.parseTruncated(value)
}

/**
 * Converts a price that replaces `stored`. The stored one itself passes whatever its decimals, so that a value that was
 * read can be sent back.
 */
export function scalePrice(field: string, value: Decimal, stored: Price, maxDecimals: number): Price {
  return Price.parse(value) === stored ? stored : scaleTerm(field, value, Price, maxDecimals)
}

/** Throws `PRECISION_ERROR` when a number has more than `maxDecimals` decimals. */
export function requirePrecision(field: string, value: Decimal, maxDecimals: number): void {
  if (decimalPlaces(value) <= maxDecimals) return
  const message = `${field} has more than ${maxDecimals} decimals: ${value}.`
  throw new ApiError('PRECISION_ERROR', message, { field, value, maxDecimals })
}

function isWithin(value: Decimal, { isMinTaken, min, max, decimals }: Rule): boolean {
  // No accepted text has more decimals, so the comparison is exact.
  const exact = scaleDecimalTruncated(value, MAX_DECIMAL_CHARS)
  const unit = 10n ** BigInt(MAX_DECIMAL_CHARS - decimals)
  if (max !== undefined && exact > max * unit) return false
  return isMinTaken ? exact >= min * unit : exact > min * unit
}

function sentence({ isMinTaken, min, max, decimals }: Rule): string {
  const lower = `must be ${isMinTaken ? 'at least' : 'above'} ${formatDecimal(min, decimals)}`
  return max === undefined ? lower : `${lower} and at most ${formatDecimal(max, decimals)}`
}
