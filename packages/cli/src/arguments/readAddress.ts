import { parseAddress } from '@bezel/protocol'
import { UsageError } from '../errors/usageError.ts'

/** An address, in its checksummed form. `what` begins the complaint. */
export function readAddress(text: string, what: string): `0x${string}` {
  const address = parseAddress(text)
  if (address !== undefined) return address
  throw new UsageError(
    `${what} is ${JSON.stringify(text.slice(0, 44))}, but it must be an address: 0x and 40 hexadecimal digits.`,
  )
}
