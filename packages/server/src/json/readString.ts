import { refusal, syntaxError, type Cursor } from './cursor.ts'
import type { StrictJsonError } from './strictJsonError.ts'

const QUOTE = 0x22
const BACKSLASH = 0x5c
const FIRST_PRINTABLE = 0x20
const FIRST_SURROGATE = 0xd800

/** Reads a string, whose opening quote is next. */
export function readString(cursor: Cursor): string {
  const { text } = cursor
  const start = cursor.at
  let isPlain = true
  let at = start + 1
  let code = text.charCodeAt(at)
  while (code !== QUOTE) {
    // Not `code < FIRST_PRINTABLE`: the end of the text is NaN.
    if (!(code >= FIRST_PRINTABLE)) throw unfinished(cursor, at)
    if (code === BACKSLASH) {
      isPlain = false
      at++
    } else if (code >= FIRST_SURROGATE) isPlain = false
    code = text.charCodeAt(++at)
  }
  cursor.at = at + 1
  return isPlain ? text.slice(start + 1, at) : decode(cursor, start)
}

/** A string with escapes or surrogates, the two places where a bad character can hide. */
function decode(cursor: Cursor, start: number): string {
  const value = unescape(cursor, start)
  if (!value.isWellFormed()) throw refusal(cursor, 'has a string with half of a surrogate pair')
  if (value.includes('\0')) throw refusal(cursor, 'has a string with a NUL character')
  return value
}

/** Escapes are few and easy to get wrong, so the engine reads them. */
function unescape(cursor: Cursor, start: number): string {
  try {
    return JSON.parse(cursor.text.slice(start, cursor.at)) as string
  } catch {
    cursor.at = start
    throw refusal(cursor, `is not JSON: the string at character ${start + 1} has an escape that does not exist`)
  }
}

function unfinished(cursor: Cursor, at: number): StrictJsonError {
  cursor.at = at
  return syntaxError(cursor, 'the rest of a string without raw control characters')
}
