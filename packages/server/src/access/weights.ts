// The weights of requests, which the limits per minute are counted in. Every operation weighs 1 with its default
// parameters, and a write always. A request that asks for more than a default page weighs 1 per page begun. One unit
// may cost 5 ms of processor time; e2e/security/weights.test.ts measures every operation and every `/info` type.

/** Entries of a list that weigh 1: no default `limit` is larger, so only a caller that asks for more pays more. */
const LIST_PAGE = 100

/** Rows of an `/info` list that weigh 1. */
export const INFO_PAGE = 200

/** The most rows of an `/info` list. */
export const MAX_INFO_ROWS = 2_000

/** Returns the weight of a request before it is answered, from its query at a time (epoch ms). */
export type WeightOf = (query: Readonly<Record<string, unknown>>, nowMs: number) => number

/** Returns the number of pages that `rows` begin, at least 1. */
export function pagesBegun(rows: number, page: number): number {
  return Math.max(1, Math.ceil(rows / page))
}

/** Returns the weight of a list whose query has a `limit`. One that is not valid is refused and weighs 1. */
export function listWeight({ limit }: Readonly<Record<string, unknown>>): number {
  const rows = typeof limit === 'string' && /^\d{1,4}$/.test(limit) ? Number(limit) : 0
  return pagesBegun(rows, LIST_PAGE)
}

/** Charges further weight to the buckets of a request that was charged 1 already. Throws `RATE_LIMITED`. */
export type ChargeMore = (weight: number) => void | Promise<void>

/** Counts the rows of an `/info` answer and charges each page before it is made. */
export interface RowMeter {
  /** Counts further rows. Throws `RATE_LIMITED` when a page that they begin can not be charged. */
  add(rows: number): void | Promise<void>
}

/** Creates the meter of one request, whose first page was charged when it arrived. */
export function createRowMeter(charge: ChargeMore): RowMeter {
  let rows = 0
  let charged = 1
  return {
    add(count) {
      rows += count
      const more = pagesBegun(rows, INFO_PAGE) - charged
      if (more <= 0) return
      charged += more
      return charge(more)
    },
  }
}

/** A meter that charges nobody, for what the service tells on its own account. */
export const UNMETERED: RowMeter = { add: () => {} }
