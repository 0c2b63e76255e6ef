import { refusal, syntaxError, type Cursor } from './cursor.ts'

/** No two parts can match the same digits, so it takes one pass however long the number is. */
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y

/** Reads a number, the last kind of value that can stand here. */
export function readNumber(cursor: Cursor): number {
  NUMBER.lastIndex = cursor.at
  if (!NUMBER.test(cursor.text)) throw syntaxError(cursor, 'a value')
  const value = Number(cursor.text.slice(cursor.at, NUMBER.lastIndex))
  if (!Number.isFinite(value)) throw refusal(cursor, 'has a number that is too large')
  cursor.at = NUMBER.lastIndex
  return value
}
