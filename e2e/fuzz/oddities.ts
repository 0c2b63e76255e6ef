import type { Random } from './random.ts'

/** Decimals that the schema allows but that no reasonable client sends. */
export const WILD_NUMBERS: readonly string[] = [
  '0',
  '-0',
  '0.0',
  '-1',
  '-0.000001',
  '1.0',
  '0.1000',
  '0.000000000000000001',
  `0.${'0'.repeat(37)}1`,
  '9'.repeat(40),
  `-${'9'.repeat(39)}`,
  `1${'0'.repeat(39)}`,
  `${'9'.repeat(20)}.${'9'.repeat(19)}`,
  '340282366920938463463374607431768211455',
  '18446744073709551616',
  '9007199254740993',
  '4294967296',
  '1208925819614629174706176',
  '65.535',
  '65.536',
  '0.001',
  '0.0001',
  '16777.216',
  '150',
  '1000',
  '922337203685.4775808',
]

/** Texts that are known to cause faults in parsers. */
export const ODD_TEXTS: readonly string[] = [
  '',
  ' ',
  '\u0000',
  'a\u0000b',
  '\ud800',
  '\udfff\ud800',
  '\u{1f4a9}',
  'ﬃ',
  'é',
  'e\u0301',
  '\u202egnitrop',
  '\ufeffBTC/USD',
  '１２３',
  '٣',
  'İ',
  '__proto__',
  'constructor',
  'toString',
  'null',
  'NaN',
  'Infinity',
  '1e3',
  '+1',
  '.5',
  '5.',
  '01',
  '0x10',
  '1,5',
  ' 1',
  '1\n',
  '1_000',
  "'; drop table orders; --",
  '${7*7}',
  '{{7*7}}',
  '../../etc/passwd',
  '<script>',
  'a'.repeat(33),
  'a'.repeat(64),
  'a'.repeat(65),
  '9'.repeat(41),
  '\u{1f600}'.repeat(64),
  'x'.repeat(5_000),
  `0x${'0'.repeat(40)}`,
  `0x${'f'.repeat(64)}`,
  '0X12',
  '0x',
  'BTC/USD',
  'btc/usd',
]

/** Returns an unreasonable value of any JSON type. */
export function oddValue(random: Random): unknown {
  const numbers = [0, -0, 1, -1, 0.1, 1e21, -1e308, 5e-324, 2 ** 53, 2 ** 53 + 2, -(2 ** 63), 1e15, 4294967296]
  switch (random.below(8)) {
    case 0:
      return null
    case 1:
      return random.chance(0.5)
    case 2:
      return random.pick(numbers)
    case 3:
      return random.pick([[], [[]], [null], ['BTC/USD'], Array.from({ length: 600 }, () => 'BTC/USD')])
    case 4:
      return random.pick<unknown>([{}, { a: 1 }, { length: 3 }, { toString: 1 }, { $ref: '#' }])
    case 5:
      return random.pick(WILD_NUMBERS)
    default:
      return random.pick(ODD_TEXTS)
  }
}

/** Odd segments of a path or a query; not yet encoded, or with a broken encoding. */
const ODD_SEGMENTS: readonly string[] = [
  '',
  '.',
  '..',
  '%2e%2e',
  '%2F',
  '%5c',
  '%00',
  '%0d%0aX-Injected:1',
  '%',
  '%Z1',
  '%ff',
  '%c0%af',
  '%ed%a0%80',
  '%F0%9F%92%A9',
  '%25252e',
  '-1',
  '0',
  '00',
  '01',
  '+1',
  '1.0',
  '1e3',
  '0x1',
  '9007199254740991',
  '9007199254740992',
  '9223372036854775807',
  '9223372036854775808',
  '9'.repeat(100),
  '9'.repeat(101),
  'a'.repeat(4_000),
  '%EF%BC%91',
  '__proto__',
  'constructor',
  'hasOwnProperty',
  '[object%20Object]',
  'null',
  'undefined',
  ';a=b',
  '*',
  '&',
  "'",
  '"',
  'arbitrum',
  'ARBITRUM-SEPOLIA',
  'mars',
  'BTC-USD',
  'btc-usd',
  'BTC%2FUSD',
  'BTC-USD-',
  '\u00e9',
]

export function oddSegment(random: Random): string {
  return random.chance(0.1) ? encodeURIComponent(random.pick(ODD_TEXTS).toWellFormed()) : random.pick(ODD_SEGMENTS)
}
