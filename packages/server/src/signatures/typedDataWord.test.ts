import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { keccak256, numberToBytes, pad, toBytes } from 'viem'
import { anyAddress, anyText } from './testing/domains.ts'
import { addressWord, stringWord, uint256Word } from './typedDataWord.ts'

const MAX = 2n ** 256n - 1n

describe('uint256Word', () => {
  it('encodes any number of 256 bits', () => {
    const bits = fc.integer({ min: 0, max: 256 }).chain((n) => fc.bigInt({ min: 0n, max: 2n ** BigInt(n) - 1n }))
    fc.assert(
      fc.property(bits, (number) => {
        assert.deepEqual(uint256Word(String(number)), numberToBytes(number, { size: 32 }))
      }),
      { numRuns: 2_000 },
    )
  })

  it('encodes the numbers around what a double holds and each word of 64 bits, and the greatest', () => {
    for (const number of [
      0n,
      1n,
      2n ** 53n - 1n,
      2n ** 53n,
      2n ** 53n + 1n,
      2n ** 64n - 1n,
      2n ** 64n,
      2n ** 128n,
      2n ** 192n - 1n,
      2n ** 192n,
      MAX,
    ]) {
      assert.deepEqual(uint256Word(String(number)), numberToBytes(number, { size: 32 }))
    }
  })

  it('encodes JSON numbers as they are printed', () => {
    for (const number of [0, -0, 1_700_000_000_000, Number.MAX_SAFE_INTEGER, 1e20]) {
      assert.deepEqual(uint256Word(number), numberToBytes(BigInt(number), { size: 32 }))
    }
  })

  it('refuses what is no number in range', () => {
    const tooBig = [String(MAX + 1n), '9'.repeat(78), '9'.repeat(79), '9'.repeat(1_000_000)]
    const otherForms = [
      '',
      ' ',
      '-1',
      '+1',
      '01',
      '00',
      '1.0',
      '1e3',
      '0x1',
      '1n',
      ' 1',
      '1\n',
      '1_000',
      '\u0661',
      '\u0000',
    ]
    for (const text of [...tooBig, ...otherForms]) assert.equal(uint256Word(text), undefined, text.slice(0, 90))
    for (const number of [-1, 0.5, 1e21, 1e308, Number.NaN, Infinity, -Infinity])
      assert.equal(uint256Word(number), undefined, String(number))
  })
})

describe('addressWord', () => {
  it('puts the address at the end, whatever its case', () => {
    fc.assert(
      fc.property(anyAddress, (address) => {
        assert.deepEqual(addressWord(address), pad(toBytes(address)))
        assert.deepEqual(addressWord(`0x${address.slice(2).toUpperCase()}`), pad(toBytes(address)))
      }),
    )
  })

  it('refuses what is no address', () => {
    const digits = '1'.repeat(40)
    for (const text of [
      '',
      '0x',
      digits,
      `0X${digits}`,
      `0x${digits}1`,
      `0x${digits.slice(1)}`,
      `0x${'\u0131'.repeat(40)}`,
    ]) {
      assert.equal(addressWord(text), undefined, text)
    }
  })
})

describe('stringWord', () => {
  it('hashes UTF-8, also of broken text', () => {
    fc.assert(fc.property(anyText, (text) => assert.deepEqual(stringWord(text), keccak256(toBytes(text), 'bytes'))))
    assert.deepEqual(stringWord('\ud800'), stringWord('\ufffd'))
  })
})
