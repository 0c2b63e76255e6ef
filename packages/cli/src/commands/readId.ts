import { UsageError } from '../errors/usageError.ts'

/** The id of an order or position. `what` begins the complaint. */
export function readId(text: string, what: string): string {
  if (/^\d{1,20}$/.test(text)) return text
  throw new UsageError(`${what} is ${JSON.stringify(text.slice(0, 40))}, but ids are whole numbers.`)
}
