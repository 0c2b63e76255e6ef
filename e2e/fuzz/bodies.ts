import { ODD_TEXTS, oddValue } from './oddities.ts'
import type { Random } from './random.ts'

/** The bytes of a body, and the change made to them. */
export interface Body {
  readonly bytes: Uint8Array
  readonly how: string
}

type Fields = Record<string, unknown>

const EXTRA_NAMES = [
  'colour',
  '__proto__',
  'constructor',
  'prototype',
  '',
  'toString',
  'a'.repeat(300),
  'market ',
  'Size',
]
const LIMIT_BYTES = 64 * 1024

export function bytesOf(value: unknown): Uint8Array {
  return Buffer.from(JSON.stringify(value))
}

/** Changes one thing inside a value; the result is still JSON. */
export function changeValue(value: unknown, random: Random): { readonly value: unknown; readonly how: string } {
  const changed = structuredClone(value)
  const holders = objectsIn(changed)
  const holder = random.pick(holders.length === 0 ? [{}] : holders)
  const names = Object.keys(holder)
  const name = names.length === 0 ? 'x' : random.pick(names)
  switch (random.below(6)) {
    case 0:
      delete holder[name]
      return { value: changed, how: `without ${name}` }
    case 1: {
      const extra = random.pick(EXTRA_NAMES)
      Object.defineProperty(holder, extra, { value: oddValue(random), enumerable: true, configurable: true })
      return { value: changed, how: `with ${JSON.stringify(extra.slice(0, 20))}` }
    }
    case 2:
      return { value: random.pick([[changed], null, 'text', 1, [], {}, true]), how: 'other kind of body' }
    case 3:
      holder[name] = random.pick(ODD_TEXTS)
      return { value: changed, how: `odd text as ${name}` }
    default:
      holder[name] = oddValue(random)
      return { value: changed, how: `odd value as ${name}` }
  }
}

function objectsIn(value: unknown): Fields[] {
  if (typeof value !== 'object' || value === null) return []
  const inner = Object.values(value).flatMap(objectsIn)
  return Array.isArray(value) ? inner : [value as Fields, ...inner]
}

/** Changes the text. The result is mostly invalid JSON, or JSON that two parsers read differently. */
export function changeText(value: unknown, random: Random): Body {
  const text = JSON.stringify(value)
  const [how, change] = random.pick(TEXT_CHANGES)
  const changed = change(text, random)
  return { how, bytes: typeof changed === 'string' ? Buffer.from(changed) : changed }
}

type TextChange = (text: string, random: Random) => string | Uint8Array

const TEXT_CHANGES: readonly (readonly [string, TextChange])[] = [
  ['cut off', (text, random) => text.slice(0, random.below(text.length))],
  ['key given twice', (text) => `${text.slice(0, -1)}${text.length > 2 ? `,${text.slice(1, -1)}` : ''}}`],
  ['another size behind', (text) => `${text.slice(0, -1)}${text.length > 2 ? ',' : ''}"size":"1","size":"2"}`],
  ['__proto__ in front', (text) => `{"__proto__":{"size":"1"}${text.length > 2 ? ',' : ''}${text.slice(1)}`],
  ['more behind', (text) => `${text}{}`],
  ['comma behind', (text) => `${text.slice(0, -1)},}`],
  ['comment', (text) => `/* */${text}`],
  ['single quotes', (text) => text.replaceAll('"', "'")],
  ['byte order mark', (text) => `\ufeff${text}`],
  ['utf-16', (text) => Buffer.from(text, 'utf16le')],
  ['half a pair', (text) => text.replace(/"(?=[,}])/, '\\ud83d"')],
  ['escaped NUL', (text) => text.replace(/"(?=[,}])/, '\\u0000"')],
  ['NUL', (text) => text.replace(/"(?=[,}])/, '\u0000"')],
  ['line break in a text', (text) => text.replace(/"(?=[,}])/, '\n"')],
  ['bad escape', (text) => text.replace(/"(?=[,}])/, '\\x41"')],
  ['number beyond a double', (text) => text.replace(/:"[^"]*"/, ':1e400')],
  ['number with leading zero', (text) => text.replace(/:"[^"]*"/, ':007')],
  ['minus zero', (text) => text.replace(/:"[^"]*"/, ':-0')],
  ['NaN', (text) => text.replace(/:"[^"]*"/, ':NaN')],
  ['long number', (text) => text.replace(/:"[^"]*"/, `:${'9'.repeat(10_000)}`)],
  ['deep', (text) => text.replace(/:"[^"]*"/, `:${'['.repeat(20_000)}${']'.repeat(20_000)}`)],
  ['deep and open', () => '{"a":'.repeat(10_000)],
  ['nothing', () => ''],
  ['blank', () => ' \n\t '],
  ['padded to the limit', (text) => text.padEnd(LIMIT_BYTES - Buffer.byteLength(text) + text.length)],
  ['padded beyond the limit', (text) => text.padEnd(LIMIT_BYTES + 1)],
  ['far beyond the limit', (text) => text.padEnd(LIMIT_BYTES * 3)],
  ['many keys', () => `{${Array.from({ length: 4_000 }, (_, index) => `"k${index}":0`).join(',')}}`],
  ['bytes that are no text', (text, random) => flipped(text, random)],
  [
    'escaped names',
    (text) => text.replace(/"([a-z])/, (_, letter: string) => `"\\u00${letter.charCodeAt(0).toString(16)}`),
  ],
]

function flipped(text: string, random: Random): Uint8Array {
  const bytes = Buffer.from(text)
  for (let count = 1 + random.below(3); count > 0; count -= 1) bytes[random.below(bytes.length)] = random.below(256)
  return bytes
}
