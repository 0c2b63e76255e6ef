import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import {
  keccak256 as viemKeccak256,
  numberToBytes,
  pad,
  toBytes,
  domainSeparator as viemDomainSeparator,
  toHex,
} from 'viem'
import { anyAddress, anyText, anyDomain, ARBITRUM_DOMAIN } from './testing/domains.ts'
import { addressWord, stringWord, uint256Word, domainSeparator, keccak256 } from './typedData.ts'
import type { Address, SigningDomain } from '@bezel/protocol'

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
    fc.assert(fc.property(anyText, (text) => assert.deepEqual(stringWord(text), viemKeccak256(toBytes(text), 'bytes'))))
    assert.deepEqual(stringWord('\ud800'), stringWord('\ufffd'))
  })
})

describe('domainSeparator', () => {
  it('is the published one of arbitrum', () => {
    const published = '0xdf0aae34b2e8effb80dd5069f6b60ac9a1d7d6e36b8acf183a5e4a1b4b257662'
    assert.equal(toHex(domainSeparator(ARBITRUM_DOMAIN)), published)
  })

  it('equals the reference for any domain', () => {
    fc.assert(
      fc.property(anyDomain, (domain) => {
        assert.equal(toHex(domainSeparator(domain)), viemDomainSeparator({ domain }))
      }),
      { numRuns: 300 },
    )
  })

  it('is computed once for a domain, and apart for domains that differ in anything', () => {
    assert.equal(domainSeparator(ARBITRUM_DOMAIN), domainSeparator(ARBITRUM_DOMAIN))
    assert.deepEqual(domainSeparator({ ...ARBITRUM_DOMAIN }), domainSeparator(ARBITRUM_DOMAIN))
    const others: SigningDomain[] = [
      { ...ARBITRUM_DOMAIN, name: 'Bezel Trading API' },
      { ...ARBITRUM_DOMAIN, chainId: 1 },
      { ...ARBITRUM_DOMAIN, verifyingContract: `0x${'1'.repeat(40)}` as Address },
    ]
    const all = [ARBITRUM_DOMAIN, ...others].map((domain) => toHex(domainSeparator(domain)))
    assert.equal(new Set(all).size, all.length)
  })

  it('refuses a domain that can not exist', () => {
    assert.throws(() => domainSeparator({ ...ARBITRUM_DOMAIN, chainId: -1 }), /-1 is no chain id/)
    assert.throws(
      () => domainSeparator({ ...ARBITRUM_DOMAIN, verifyingContract: '0x12' as Address }),
      /0x12 is no address/,
    )
  })
})

describe('keccak256', () => {
  it('equals the reference for random bytes', () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 600 }), agrees), { numRuns: 1_000 })
  })

  it('equals the reference around its block of 136 bytes and the 16 KiB it is fed with at a time', () => {
    for (const around of [0, 136, 272, 16_384, 32_768, 1_000_000]) {
      for (const length of [around - 1, around, around + 1].filter((bytes) => bytes >= 0)) {
        agrees(new Uint8Array(length).fill(length % 251))
      }
    }
  })

  it('hashes the bytes of a view, not those around it, and leaves them as they are', () => {
    const whole = Buffer.from('before|the body|after')
    const view = whole.subarray(7, 15)
    assert.deepEqual(keccak256(view), keccak256(new TextEncoder().encode('the body')))
    assert.equal(whole.toString(), 'before|the body|after')
  })

  it('hands out bytes of its own each time', () => {
    const first = keccak256(Uint8Array.of(1))
    const copy = first.slice()
    keccak256(Uint8Array.of(2))
    assert.deepEqual(first, copy)
    keccak256(Uint8Array.of(1)).fill(0)
    agrees(Uint8Array.of(1))
  })

  it('is not disturbed by a hash that failed', () => {
    // @ts-expect-error -- only a caller without types can do this
    assert.throws(() => keccak256(undefined))
    agrees(Uint8Array.of(3))
  })
})

function agrees(bytes: Uint8Array): void {
  assert.deepEqual(new Uint8Array(keccak256(bytes)), viemKeccak256(bytes, 'bytes'))
}
