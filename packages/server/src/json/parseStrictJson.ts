import { isUtf8 } from 'node:buffer'

/** A value that JSON can express. */
export type JsonValue = string | number | boolean | null | JsonValue[] | { [key: string]: JsonValue }

/**
 * Maximum nesting of objects and arrays. The deepest body of the interface has three levels; the limit bounds the
 * parser's recursion.
 */
export const MAX_JSON_DEPTH = 32

/**
 * Maximum number of members of one object. No object of the interface has so many, and one with thousands costs several
 * times what its bytes do elsewhere.
 */
export const MAX_JSON_MEMBERS = 1_000

/** State of the parser. One object of one shape, for speed: every write passes through the parser. */
interface Cursor {
  readonly text: string
  /** Index of the next character. */
  at: number
  /** The number of open objects and arrays. */
  depth: number
  /** The member or element being read in each open object or array; only the first `depth` entries are valid. */
  readonly trail: (string | number)[]
  /** The name of the whole text in paths. */
  readonly root: string
}

/** Maximum length of a key in an error message, because clients choose the keys. */
const MAX_QUOTED_CHARS = 40

const SPACE = 0x20
const TAB = 0x09
const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d
const QUOTE = 0x22
const COMMA = 0x2c
const COLON = 0x3a
const OPEN_BRACKET = 0x5b
const CLOSE_BRACKET = 0x5d
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d
const BYTE_ORDER_MARK = '\ufeff'
const BACKSLASH = 0x5c
const FIRST_PRINTABLE = 0x20
const FIRST_SURROGATE = 0xd800

/** JSON number. No two parts of the pattern can match the same digits, so matching takes linear time. */
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y

/**
 * Parses like `JSON.parse`, but refuses what two programs can read differently: a key given twice, `__proto__`, invalid
 * UTF-8, half surrogate pairs, NUL, numbers beyond a double, a byte order mark. Also refuses what no caller needs:
 * nesting beyond `MAX_JSON_DEPTH`, objects of more than `MAX_JSON_MEMBERS`. `root` names the whole text in paths.
 * Throws a `StrictJsonError`. Takes linear time on any input.
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
 * Reads an object into a plain one. Assignment creates an own property for every key except `__proto__`, which is
 * refused.
 */
function readObject(cursor: Cursor): JsonValue {
  open(cursor)
  const object: { [key: string]: JsonValue } = {}
  if (closes(cursor, CLOSE_BRACE)) return object
  let members = 0
  do {
    const key = readKey(cursor)
    if (Object.hasOwn(object, key)) throw refusal(cursor, 'is given twice')
    if (++members > MAX_JSON_MEMBERS) throw refusal(cursor, `is one of more than ${MAX_JSON_MEMBERS} members`)
    object[key] = readValue(cursor)
  } while (hasNext(cursor, CLOSE_BRACE, '"," or "}"'))
  return object
}

function readKey(cursor: Cursor): string {
  const level = cursor.depth - 1
  // Until the key is known, errors name the object instead of the member.
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

/** Enters an object or array. Its opening character must be next. */
function open(cursor: Cursor): void {
  if (cursor.depth === MAX_JSON_DEPTH) throw refusal(cursor, `is nested more than ${MAX_JSON_DEPTH} levels deep`)
  cursor.at++
  cursor.depth++
}

/** Leaves the object or array and returns true when its closing character is next. */
function closes(cursor: Cursor, closing: number): boolean {
  if (peek(cursor) !== closing) return false
  cursor.at++
  cursor.depth--
  return true
}

/** Steps over a comma and returns true, or leaves the object or array and returns false. */
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

/** Reads a string. Its opening quote must be next. */
function readString(cursor: Cursor): string {
  const { text } = cursor
  const start = cursor.at
  let isPlain = true
  let at = start + 1
  let code = text.charCodeAt(at)
  while (code !== QUOTE) {
    // Written as a negation because the code is NaN at the end of the text.
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

/** Decodes a string with escapes or surrogates, the only ones that can contain a forbidden character. */
function decode(cursor: Cursor, start: number): string {
  const value = unescape(cursor, start)
  if (!value.isWellFormed()) throw refusal(cursor, 'has a string with half of a surrogate pair')
  if (value.includes('\0')) throw refusal(cursor, 'has a string with a NUL character')
  return value
}

/** Decodes escapes with `JSON.parse`: they are rare and easy to get wrong. */
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

/** Reads a number. Throws a syntax error for anything else, as all other kinds of values were tried before. */
function readNumber(cursor: Cursor): number {
  NUMBER.lastIndex = cursor.at
  if (!NUMBER.test(cursor.text)) throw syntaxError(cursor, 'a value')
  const value = Number(cursor.text.slice(cursor.at, NUMBER.lastIndex))
  if (!Number.isFinite(value)) throw refusal(cursor, 'has a number that is too large')
  cursor.at = NUMBER.lastIndex
  return value
}

/** Decodes bytes as text. Keeps a byte order mark, which the parser then refuses. */
function decodeUtf8(bytes: Uint8Array, root: string): string {
  if (!isUtf8(bytes)) throw new StrictJsonError(root, `${root} is not valid UTF-8.`)
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8')
}

/** Skips white space and returns the next character code without consuming it; `NaN` at the end. */
function peek(cursor: Cursor): number {
  const { text } = cursor
  let code = text.charCodeAt(cursor.at)
  while (code === SPACE || code === LINE_FEED || code === CARRIAGE_RETURN || code === TAB) {
    code = text.charCodeAt(++cursor.at)
  }
  return code
}

/** Makes the error for text at the cursor that is not JSON. */
function syntaxError(cursor: Cursor, expected: string): StrictJsonError {
  const found =
    cursor.at < cursor.text.length ? quote(String.fromCodePoint(cursor.text.codePointAt(cursor.at)!)) : 'the end'
  return refusal(cursor, `is not JSON: expected ${expected} at character ${cursor.at + 1}, found ${found}`)
}

/** Makes the error for the value being read. The message starts with its path. */
function refusal(cursor: Cursor, predicate: string): StrictJsonError {
  const path = pathOf(cursor)
  return new StrictJsonError(path, `${path} ${predicate}.`)
}

function pathOf({ root, trail, depth }: Cursor): string {
  return trail.slice(0, depth).reduce<string>((path, step) => path + stepText(step), root)
}

/** Formats a member or element as a step of a path. */
export function stepText(step: string | number): string {
  if (typeof step === 'number') return `[${step}]`
  return /^[A-Za-z_$][\w$]{0,39}$/.test(step) ? `.${step}` : `[${quote(step)}]`
}

function quote(text: string): string {
  return JSON.stringify(text.length > MAX_QUOTED_CHARS ? `${text.slice(0, MAX_QUOTED_CHARS)}...` : text)
}

/** Thrown for a refused text. `path` says where (`body.scope.markets[1]`); the message is a sentence for the sender. */
export class StrictJsonError extends Error {
  override readonly name = 'StrictJsonError'
  readonly path: string

  constructor(path: string, message: string) {
    super(message)
    this.path = path
  }
}
