import { parseDecimal } from '@bezel/protocol'
import { UsageError } from '../errors/usageError.ts'

/** A number above zero as the interface wants it. `what` begins the complaint: `--limit`, `SIZE`. */
export function readDecimal(text: string, what: string): string {
  const value = parseDecimal(text)
  if (value !== undefined && !value.startsWith('-') && value !== '0') return value
  throw new UsageError(`${what} is ${JSON.stringify(text.slice(0, 40))}, but it must be a number above 0, such as 0.5.`)
}
