/** The text of a body with one field replaced by the given JSON. */
type Fields = Readonly<Record<string, unknown>>

const bytes = (text: string): Uint8Array => Buffer.from(text, 'latin1')

function withField(fields: Fields, name: string, json: string): string {
  const rest = Object.entries(fields).filter(([key]) => key !== name)
  return `{${[...rest.map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`), `${JSON.stringify(name)}:${json}`].join(',')}}`
}

/** Returns bodies that are wrong for any operation, made from the valid `fields`. */
export function brokenBodies(fields: Fields): Readonly<Record<string, string | Uint8Array>> {
  const good = JSON.stringify(fields)
  const [[name, value]] = Object.entries(fields) as [[string, unknown]]
  const inside = good.slice(1, -1)
  return {
    'an unknown field': withField(fields, 'colour', '"red"'),
    'an unknown field named constructor': withField(fields, 'constructor', '{}'),
    'a field in another case': withField(fields, name.toUpperCase(), JSON.stringify(value)),
    'a key twice': `{${inside},${JSON.stringify(name)}:${JSON.stringify(value)}}`,
    'a key twice, once escaped': `{${inside},"\\u00${name.charCodeAt(0).toString(16)}${name.slice(1)}":${JSON.stringify(value)}}`,
    __proto__: `{${inside},"__proto__":{"polluted":true}}`,
    '__proto__, escaped': `{${inside},"\\u005f_proto__":{"polluted":true}}`,
    'a NUL in a text': withField(fields, name, '"a\\u0000b"'),
    'a raw NUL': withField(fields, name, '"a\0b"'),
    'half of a surrogate pair': withField(fields, name, '"\\ud800"'),
    'the other half': withField(fields, name, '"\\udc00x"'),
    'bytes that are no UTF-8': bytes(withField(fields, name, '"\xff\xfe"')),
    'an overlong encoding': bytes(withField(fields, name, '"\xc0\xaf"')),
    'a byte order mark': bytes(`\xef\xbb\xbf${good}`),
    'UTF-16': Buffer.from(good, 'utf16le'),
    'half of it': good.slice(0, good.length / 2),
    'a trailing comma': `{${inside},}`,
    'a comment': `{${inside}/* */}`,
    'two bodies': good + good,
    'single quotes': good.replaceAll('"', "'"),
    'an array of it': `[${good}]`,
    null: 'null',
    'a text': '"order"',
    'a number': '7',
    'a word': 'NaN',
    spaces: '   ',
    'arrays beyond any depth': '['.repeat(5_000),
    'objects beyond any depth': '{"a":'.repeat(5_000),
    'null for a field': withField(fields, name, 'null'),
    'an object for a field': withField(fields, name, '{"toString":"x"}'),
    'an array for a field': withField(fields, name, '[]'),
    'a field too few': JSON.stringify(Object.fromEntries(Object.entries(fields).slice(1))),
    'a number beyond every double': withField(fields, name, '1e999'),
    'a text of 60 KB': withField(fields, name, `"${'9'.repeat(60_000)}"`),
    'more than is read': withField(fields, name, `"${'9'.repeat(1_000_000)}"`),
  }
}

/** JSON texts that are not decimals. */
export const BAD_NUMBERS: readonly string[] = [
  '1',
  '0.02',
  '-1',
  '1e3',
  'true',
  '""',
  '" 1"',
  '"1 "',
  '"+1"',
  '".5"',
  '"1."',
  '"01"',
  '"1e3"',
  '"0x10"',
  '"1,000"',
  '"1_000"',
  '"NaN"',
  '"Infinity"',
  '"-0x1"',
  '"١"',
  '"1\\n"',
  '"-"',
  '"--1"',
  '"0"',
  '"-0.02"',
  '"0.0"',
  `"${'1'.repeat(41)}"`,
  `"0.${'1'.repeat(60_000)}"`,
]
