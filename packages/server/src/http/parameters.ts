import { ApiError, parseAddress, parsePathSymbol, type Address, type MarketSymbol } from '@bezel/protocol'
import { Type, type TSchema } from '@sinclair/typebox'
import { MAX_ISSUES, type ValidationIssue } from '../access/validationIssues.ts'
import { stepText } from '../json/parseStrictJson.ts'

/** A query parameter with its description in the reference. */
export interface QueryParameter {
  readonly schema: TSchema
  readonly description: string
  readonly isRequired?: boolean
}

/** The range of a whole number in a query, and its default. */
export interface NumberRange {
  readonly min: number
  readonly max: number
  readonly byDefault: number
}

/** A caller's request for one page of a list. */
export interface PageQuery<Cursor> {
  /** The position at which the previous page ended; `undefined` for the first page. */
  readonly cursor: Cursor | undefined
  readonly limit: number
}

/** The text format of a position in a list. */
export interface CursorFormat<Cursor> {
  readonly toText: (cursor: Cursor) => string
  /** Returns `undefined` for a text that `toText` never produces. */
  readonly fromText: (text: string) => Cursor | undefined
}

/** One page of a list, with the cursor of the next page, or `null` on the last one. */
export interface ListPage<Item> {
  readonly items: readonly Item[]
  readonly nextCursor: string | null
}

/** The most entries of a list in one answer. */
const MAX_COUNT = 500
const WHOLE_PATTERN = /^(?:0|[1-9]\d{0,15})$/
/** Bound of a cursor's length, far above that of every cursor this service issues. */
const MAX_CURSOR_CHARS = 128

/** Defines a query parameter that is a whole number. */
export function wholeNumber(range: NumberRange & { readonly description: string }): NumberRange & QueryParameter {
  const { min, max, byDefault } = range
  return { ...range, schema: Type.Integer({ minimum: min, maximum: max, default: byDefault }) }
}

/** Defines the `limit` parameter of a list: from 1 to `MAX_COUNT` entries. */
export function countOf(byDefault: number): NumberRange & QueryParameter {
  return wholeNumber({ min: 1, max: MAX_COUNT, byDefault, description: 'The most entries of the answer.' })
}

/** The query parameters of every paged list. */
export const PAGE_QUERY = {
  cursor: { schema: Type.String(), description: '`nextCursor` of the previous page. Default: the first page.' },
  limit: countOf(50),
} as const satisfies Readonly<Record<string, QueryParameter>>

/**
 * Reads a query of whole numbers. Throws `VALIDATION_ERROR` for a bad value and for a parameter that is not in
 * `ranges`.
 */
export function numberQuery<Name extends string>(
  query: Readonly<Record<string, unknown>>,
  ranges: Readonly<Record<Name, NumberRange>>,
): Record<Name, number> {
  const issues = unknownParameters(query, ranges)
  const entries = (Object.entries(ranges) as [Name, NumberRange][]).map(([name, range]) => [
    name,
    readWholeParameter(name, query[name], range, issues),
  ])
  if (issues.length > 0) throw queryRefusal(issues)
  return Object.fromEntries(entries) as Record<Name, number>
}

/** Reads the query of a paged list. Throws `VALIDATION_ERROR` for a bad value and for an unknown parameter. */
export function pageQuery<Cursor>(
  query: Readonly<Record<string, unknown>>,
  format: CursorFormat<Cursor>,
): PageQuery<Cursor> {
  const issues = unknownParameters(query, PAGE_QUERY)
  const page = readPageQuery(query, format, issues)
  if (issues.length > 0) throw queryRefusal(issues)
  return page
}

/** Reads the page that a query asks for. Adds to `issues` what is wrong with it. */
export function readPageQuery<Cursor>(
  query: Readonly<Record<string, unknown>>,
  format: CursorFormat<Cursor>,
  issues: ValidationIssue[],
): PageQuery<Cursor> {
  const limit = readWholeParameter('limit', query.limit, PAGE_QUERY.limit, issues)
  const cursor = query.cursor === undefined ? undefined : readCursor(query.cursor, format)
  if (query.cursor !== undefined && cursor === undefined) {
    issues.push({ path: 'query.cursor', message: 'must be the nextCursor of an earlier page of this list' })
  }
  return { cursor, limit }
}

/** Reads a whole number of a query. Adds to `issues` when it is out of its range. */
export function readWholeParameter(
  name: string,
  value: unknown,
  range: NumberRange,
  issues: ValidationIssue[],
): number {
  const number = value === undefined ? range.byDefault : readNumber(value, range)
  if (number === undefined) issues.push({ path: `query.${name}`, message: sentence(range) })
  return number ?? range.byDefault
}

/** Reads the market that a query names, in either spelling of paths. Adds to `issues` when it is no name of one. */
export function readMarketParameter(value: unknown, issues: ValidationIssue[]): MarketSymbol | undefined {
  const market = typeof value === 'string' ? parsePathSymbol(value) : undefined
  if (value !== undefined && market === undefined) {
    issues.push({ path: 'query.market', message: 'must be a market like BTC-USD' })
  }
  return market
}

/** Cuts a page from a list that was read with one extra item: the extra one only shows that there is a next page. */
export function pageOf<Item, Cursor>(
  items: readonly Item[],
  limit: number,
  cursorOf: (item: Item) => Cursor,
  { toText }: CursorFormat<Cursor>,
): ListPage<Item> {
  if (items.length <= limit) return { items, nextCursor: null }
  const page = items.slice(0, limit)
  return { items: page, nextCursor: Buffer.from(toText(cursorOf(page.at(-1)!))).toString('base64url') }
}

/** Reads the `{address}` of a path. Throws `VALIDATION_ERROR`. */
export function addressParam(text: string): Address {
  const address = parseAddress(text)
  if (address !== undefined) return address
  const message = 'must be 0x and 40 hex characters'
  throw new ApiError('VALIDATION_ERROR', `The address in the path ${message}.`, {
    issues: [{ path: 'params.address', message }],
  })
}

/** Returns one issue for each parameter that the operation does not have, with those that it has. */
export function unknownParameters(query: Readonly<Record<string, unknown>>, known: object): ValidationIssue[] {
  const unknown = Object.keys(query).filter((name) => !Object.hasOwn(known, name))
  if (unknown.length === 0) return []
  const message = `is not a parameter; the parameters are ${Object.keys(known).join(', ')}`
  return unknown.slice(0, MAX_ISSUES).map((name) => ({ path: `query${stepText(name)}`, message }))
}

/** Returns the refusal of a query. Its message is the first issue. */
export function queryRefusal(issues: readonly ValidationIssue[]): ApiError {
  const [first] = issues
  const message = first === undefined ? 'The query parameters are not valid.' : `${first.path} ${first.message}.`
  return new ApiError('VALIDATION_ERROR', message, { issues })
}

/** Returns `undefined` for anything but a number in the range. A parameter that is given twice arrives as an array. */
function readNumber(value: unknown, { min, max }: NumberRange): number | undefined {
  if (typeof value !== 'string' || !WHOLE_PATTERN.test(value)) return undefined
  const number = Number(value)
  return number >= min && number <= max ? number : undefined
}

function sentence({ min, max }: NumberRange): string {
  return `must be a whole number from ${min} to ${max}`
}

/** Accepts only the exact text that the service issued, because base64url can spell the same bytes in several ways. */
function readCursor<Cursor>(value: unknown, { fromText, toText }: CursorFormat<Cursor>): Cursor | undefined {
  if (typeof value !== 'string' || value.length > MAX_CURSOR_CHARS) return undefined
  const cursor = fromText(Buffer.from(value, 'base64url').toString('latin1'))
  if (cursor === undefined) return undefined
  return Buffer.from(toText(cursor)).toString('base64url') === value ? cursor : undefined
}
