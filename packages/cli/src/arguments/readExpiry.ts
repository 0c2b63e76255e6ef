import { UsageError } from '../errors/usageError.ts'

const UNIT_MS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 }

/** When something ends, in epoch milliseconds: a span from now (`12h`, `30d`), or a date (`2027-01-31`). */
export function readExpiry(text: string, nowMs: number): number {
  const span = /^(\d{1,4})([mhdw])$/.exec(text)
  const date = /^\d{4}-\d{2}-\d{2}(?:T[\d:.]+Z)?$/.test(text) ? Date.parse(text) : Number.NaN
  const time = span === null ? date : nowMs + Number(span[1]) * UNIT_MS[span[2]!]!
  if (time > nowMs) return time
  const why = Number.isNaN(time) ? 'it must be a span such as 12h or 30d, or a date such as 2027-01-31' : 'that is past'
  throw new UsageError(`--expires is ${JSON.stringify(text.slice(0, 40))}, but ${why}.`)
}
