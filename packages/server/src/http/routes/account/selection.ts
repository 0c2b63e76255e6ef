import { MarketSymbolSchema, parseOrderId, type MarketSymbol, type OrderId } from '@bezel/protocol'
import { Type } from '@sinclair/typebox'
import type { ValidationIssue } from '../../../access/validationIssues.ts'
import {
  PAGE_QUERY,
  pageOf,
  readMarketParameter,
  readPageQuery,
  readWholeParameter,
  wholeNumber,
  type CursorFormat,
  type NumberRange,
  type PageQuery,
  type QueryParameter,
} from '../../parameters.ts'

/** The part of a list that a query selects. A query without parameters selects all of it. */
export interface Selection {
  readonly market: MarketSymbol | undefined
  /** Earliest time of an entry, in epoch milliseconds. */
  readonly sinceMs: number
  /** The page that is wanted; `undefined` when the list is wanted as a whole. */
  readonly page: PageQuery<OrderId> | undefined
}

/** The parameters of a list that comes as a whole unless its query names a part. */
interface SelectionQuery extends Readonly<Record<string, QueryParameter>> {
  readonly market: QueryParameter
  readonly since: QueryParameter & NumberRange
  readonly cursor: QueryParameter
  readonly limit: QueryParameter
}

/** Defines the parameters. `since` says what the time of an entry is that it bounds. */
export function selectionQuery(since: string): SelectionQuery {
  const { min, max, byDefault } = PAGE_QUERY.limit
  return {
    market: {
      schema: MarketSymbolSchema,
      description:
        'Symbol of the only market that is wanted; `BTC-USD` is the same as `BTC%2FUSD`. Default: all markets.',
    },
    since: wholeNumber({
      min: 0,
      max: Number.MAX_SAFE_INTEGER,
      byDefault: 0,
      description: since,
    }),
    cursor: { ...PAGE_QUERY.cursor, schema: Type.String({ examples: ['cDEwNDI'] }) },
    limit: {
      schema: Type.Integer({ minimum: min, maximum: max }),
      description: `The most entries of the answer, which then has \`nextCursor\`. Default: all of them; ${byDefault} with \`cursor\`.`,
    },
  }
}

/** Reads a selection. Adds to `issues` what is wrong with it. */
export function readSelection(
  query: Readonly<Record<string, unknown>>,
  { since }: Pick<SelectionQuery, 'since'>,
  cursors: CursorFormat<OrderId>,
  issues: ValidationIssue[],
): Selection {
  const isPaged = query.limit !== undefined || query.cursor !== undefined
  return {
    market: readMarketParameter(query.market, issues),
    sinceMs: readWholeParameter('since', query.since, since, issues),
    page: isPaged ? readPageQuery(query, cursors, issues) : undefined,
  }
}

/** Makes the answer from the selected entries behind the cursor. */
export function selectionText<Entry>(
  entries: readonly Entry[],
  page: PageQuery<OrderId> | undefined,
  of: {
    readonly cursors: CursorFormat<OrderId>
    readonly idOf: (entry: Entry) => OrderId
    readonly textOf: (entry: Entry) => string
  },
): string {
  const dataOf = (items: readonly Entry[]): string => `{"data":[${items.map(of.textOf).join(',')}]`
  if (page === undefined) return `${dataOf(entries)}}`
  const { items, nextCursor } = pageOf(entries, page.limit, of.idOf, of.cursors)
  return `${dataOf(items)},"nextCursor":${JSON.stringify(nextCursor)}}`
}

/** Makes the format of cursors that are ids, after a letter that tells one list's cursors from another's. */
export function idCursors(letter: string): CursorFormat<OrderId> {
  return {
    toText: (id) => letter + id,
    fromText: (text) => (text.startsWith(letter) ? parseOrderId(text.slice(letter.length)) : undefined),
  }
}
