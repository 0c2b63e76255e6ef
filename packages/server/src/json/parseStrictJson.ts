import { peek, refusal, syntaxError, type Cursor } from './cursor.ts'
import { decodeUtf8 } from './decodeUtf8.ts'
import { readNumber } from './readNumber.ts'
import { readString } from './readString.ts'
import { StrictJsonError } from './strictJsonError.ts'

export { StrictJsonError } from './strictJsonError.ts'

/** What JSON can say. */
export type JsonValue = string | number | boolean | null | JsonValue[] | { [key: string]: JsonValue }

/** Objects and arrays inside each other. The deepest body of the interface has three; the parser's own stack grows with it. */
export const MAX_JSON_DEPTH = 32

const QUOTE = 0x22
const COMMA = 0x2c
const COLON = 0x3a
const OPEN_BRACKET = 0x5b
const CLOSE_BRACKET = 0x5d
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d
const BYTE_ORDER_MARK = '\ufeff'

/**
 * `JSON.parse` without the readings that two programs can understand differently: a key given twice, `__proto__`, invalid UTF-8, half
 * surrogate pairs, NUL, numbers beyond a double, a byte order mark, nesting beyond `MAX_JSON_DEPTH`. Everything else gives what
 * `JSON.parse` gives. `root` names the whole in paths. Throws a `StrictJsonError`. One pass, whatever the input.
 */
export function parseStrictJson(input: string | Uint8Array, root = 'body'): JsonValue {
  const text = typeof input === 'string' ? input : decodeUtf8(input, root)
  const cursor: Cursor = { text, at: 0, depth: 0, trail: [], root }
  refuseBadStart(cursor)
  const value = readValue(cursor)
  peek(cursor)
  if (cursor.at < text.length) throw syntaxError(cursor, 'nothing more')
  return value
}

function refuseBadStart(cursor: Cursor): void {
  if (cursor.text.startsWith(BYTE_ORDER_MARK))
    throw new StrictJsonError(cursor.root, `${cursor.root} starts with a byte order mark.`)
  peek(cursor)
  if (cursor.at === cursor.text.length) throw new StrictJsonError(cursor.root, `${cursor.root} is empty.`)
}

function readValue(cursor: Cursor): JsonValue {
  switch (peek(cursor)) {
    case QUOTE:
      return readString(cursor)
    case OPEN_BRACE:
      return readObject(cursor)
    case OPEN_BRACKET:
      return readArray(cursor)
    case 0x74: // t
      return readWord(cursor, 'true', true)
    case 0x66: // f
      return readWord(cursor, 'false', false)
    case 0x6e: // n
      return readWord(cursor, 'null', null)
    default:
      return readNumber(cursor)
  }
}

/**
 * A plain object: of all keys only `__proto__` would not become a property of its own by assignment, and that key is refused.
 */
function readObject(cursor: Cursor): JsonValue {
  open(cursor)
  const object: { [key: string]: JsonValue } = {}
  if (closes(cursor, CLOSE_BRACE)) return object
  do {
    const key = readKey(cursor)
    if (Object.hasOwn(object, key)) throw refusal(cursor, 'is given twice')
    object[key] = readValue(cursor)
  } while (hasNext(cursor, CLOSE_BRACE, '"," or "}"'))
  return object
}

function readKey(cursor: Cursor): string {
  const level = cursor.depth - 1
  // Until the key is known, what is wrong with it is said of the object.
  cursor.depth = level
  if (peek(cursor) !== QUOTE) throw syntaxError(cursor, 'a key in double quotes')
  const key = readString(cursor)
  cursor.trail[level] = key
  cursor.depth = level + 1
  if (key === '__proto__') throw refusal(cursor, 'is a key that is not allowed')
  if (peek(cursor) !== COLON) throw syntaxError(cursor, '":"')
  cursor.at++
  return key
}

function readArray(cursor: Cursor): JsonValue {
  open(cursor)
  const array: JsonValue[] = []
  if (closes(cursor, CLOSE_BRACKET)) return array
  do {
    cursor.trail[cursor.depth - 1] = array.length
    array.push(readValue(cursor))
  } while (hasNext(cursor, CLOSE_BRACKET, '"," or "]"'))
  return array
}

/** Enters an object or array, whose opening character is next. */
function open(cursor: Cursor): void {
  if (cursor.depth === MAX_JSON_DEPTH) throw refusal(cursor, `is nested more than ${MAX_JSON_DEPTH} levels deep`)
  cursor.at++
  cursor.depth++
}

/** Leaves the object or array when its closing character is next. */
function closes(cursor: Cursor, closing: number): boolean {
  if (peek(cursor) !== closing) return false
  cursor.at++
  cursor.depth--
  return true
}

/** Steps over a comma, or leaves the object or array. */
function hasNext(cursor: Cursor, closing: number, expected: string): boolean {
  if (closes(cursor, closing)) return false
  if (peek(cursor) !== COMMA) throw syntaxError(cursor, expected)
  cursor.at++
  return true
}

function readWord<Value extends boolean | null>(cursor: Cursor, word: string, value: Value): Value {
  if (!cursor.text.startsWith(word, cursor.at)) throw syntaxError(cursor, 'a value')
  cursor.at += word.length
  return value
}
