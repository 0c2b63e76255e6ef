import { ApiError } from '@bezel/protocol'

/** What a caller of a paged list asks for. */
export interface PageQuery<Cursor> {
  /** Where the page before ended; `undefined` for the first one. */
  readonly cursor: Cursor | undefined
  readonly limit: number
}

/** How a place in a list is written and read back. */
export interface CursorFormat<Cursor> {
  readonly toText: (cursor: Cursor) => string
  /** `undefined` for anything that `toText` does not give. */
  readonly fromText: (text: string) => Cursor | undefined
}

/** One page, and how to ask for the next. */
export interface Page<Item> {
  readonly items: readonly Item[]
  readonly nextCursor: string | null
}

interface Issue {
  readonly path: string
  readonly message: string
}

const DEFAULT_LIMIT = 50
const MAX_LIMIT = 500
const LIMIT_PATTERN = /^[1-9]\d{0,2}$/
/** Far longer than any of ours. */
const MAX_CURSOR_CHARS = 128

/** The two query parameters of paged lists, and no others. Throws `VALIDATION_ERROR`. */
export function pageQuery<Cursor>(
  query: Readonly<Record<string, unknown>>,
  format: CursorFormat<Cursor>,
): PageQuery<Cursor> {
  const issues: Issue[] = Object.keys(query)
    .filter((name) => name !== 'cursor' && name !== 'limit')
    .map((name) => ({ path: `query.${name}`, message: 'is not a parameter of this operation' }))
  const limit = query.limit === undefined ? DEFAULT_LIMIT : readLimit(query.limit)
  if (limit === undefined)
    issues.push({ path: 'query.limit', message: `must be a whole number from 1 to ${MAX_LIMIT}` })
  const cursor = query.cursor === undefined ? undefined : readCursor(query.cursor, format)
  if (query.cursor !== undefined && cursor === undefined) {
    issues.push({ path: 'query.cursor', message: 'must be the nextCursor of an earlier page of this list' })
  }
  if (issues.length === 0 && limit !== undefined) return { cursor, limit }
  throw new ApiError('VALIDATION_ERROR', 'The query parameters are not valid.', { issues })
}

/** Of one item more than the page holds: the extra one only tells that there is a next page. */
export function pageOf<Item, Cursor>(
  items: readonly Item[],
  limit: number,
  cursorOf: (item: Item) => Cursor,
  { toText }: CursorFormat<Cursor>,
): Page<Item> {
  if (items.length <= limit) return { items, nextCursor: null }
  const page = items.slice(0, limit)
  return { items: page, nextCursor: Buffer.from(toText(cursorOf(page.at(-1)!))).toString('base64url') }
}

/** A parameter that is given twice comes as an array. */
function readLimit(value: unknown): number | undefined {
  if (typeof value !== 'string' || !LIMIT_PATTERN.test(value)) return undefined
  return Number(value) <= MAX_LIMIT ? Number(value) : undefined
}

/** Only the exact text that was given out: base64url has several spellings of the same bytes. */
function readCursor<Cursor>(value: unknown, { fromText, toText }: CursorFormat<Cursor>): Cursor | undefined {
  if (typeof value !== 'string' || value.length > MAX_CURSOR_CHARS) return undefined
  const cursor = fromText(Buffer.from(value, 'base64url').toString('latin1'))
  if (cursor === undefined) return undefined
  return Buffer.from(toText(cursor)).toString('base64url') === value ? cursor : undefined
}
