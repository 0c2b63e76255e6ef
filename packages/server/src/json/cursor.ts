import { StrictJsonError } from './strictJsonError.ts'

/** Where the parser stands. One object of one shape, because the parser is on the way of every write. */
export interface Cursor {
  readonly text: string
  /** Index of the next character. */
  at: number
  /** How many objects and arrays are open. */
  depth: number
  /** The member or element that is being read in each open object or array; only the first `depth` are meant. */
  readonly trail: (string | number)[]
  /** What the whole text is called in paths. */
  readonly root: string
}

/** Keys and characters come from strangers: longer ones are cut in what we say about them. */
const MAX_QUOTED_CHARS = 40

const SPACE = 0x20
const TAB = 0x09
const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d

/** The next character code that is not white space, which stays unread; `NaN` at the end. */
export function peek(cursor: Cursor): number {
  const { text } = cursor
  let code = text.charCodeAt(cursor.at)
  while (code === SPACE || code === LINE_FEED || code === CARRIAGE_RETURN || code === TAB) {
    code = text.charCodeAt(++cursor.at)
  }
  return code
}

/** A text that is no JSON where the cursor stands. */
export function syntaxError(cursor: Cursor, expected: string): StrictJsonError {
  const found =
    cursor.at < cursor.text.length ? quote(String.fromCodePoint(cursor.text.codePointAt(cursor.at)!)) : 'the end'
  return refusal(cursor, `is not JSON: expected ${expected} at character ${cursor.at + 1}, found ${found}`)
}

/** What is being read breaks a rule; the sentence starts with its path. */
export function refusal(cursor: Cursor, predicate: string): StrictJsonError {
  const path = pathOf(cursor)
  return new StrictJsonError(path, `${path} ${predicate}.`)
}

function pathOf({ root, trail, depth }: Cursor): string {
  return trail.slice(0, depth).reduce<string>((path, step) => path + stepText(step), root)
}

/** A member or element in a path. */
export function stepText(step: string | number): string {
  if (typeof step === 'number') return `[${step}]`
  return /^[A-Za-z_$][\w$]{0,39}$/.test(step) ? `.${step}` : `[${quote(step)}]`
}

function quote(text: string): string {
  return JSON.stringify(text.length > MAX_QUOTED_CHARS ? `${text.slice(0, MAX_QUOTED_CHARS)}...` : text)
}
