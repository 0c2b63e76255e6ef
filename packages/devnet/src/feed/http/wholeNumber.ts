import { FeedInputError } from '../price.ts'

/** Seconds up to the year 5138: more is a mistake, and a thousand times it is still exact. */
const MAX_DIGITS = 11

/** A part of a path or query that must be a number; throws a sentence that names it. */
export function wholeNumber(name: string, text: string | undefined): number {
  if (text === undefined || !/^\d+$/.test(text) || text.length > MAX_DIGITS) {
    throw new FeedInputError(
      `"${name}" must be a whole number of at most ${MAX_DIGITS} digits, not ${JSON.stringify(text ?? '')}.`,
    )
  }
  return Number(text)
}
