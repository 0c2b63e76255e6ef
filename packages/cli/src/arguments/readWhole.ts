import { UsageError } from '../errors/usageError.ts'

/** A whole number within bounds. `what` begins the complaint. */
export function readWhole(
  text: string,
  what: string,
  { min, max }: { readonly min: number; readonly max: number },
): number {
  const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
  if (value >= min && value <= max) return value
  throw new UsageError(
    `${what} is ${JSON.stringify(text.slice(0, 40))}, but it must be a whole number from ${min} to ${max}.`,
  )
}
