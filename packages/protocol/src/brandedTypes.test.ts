import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { parseAddress } from './address.ts'
import { parseHex } from './hex.ts'
import { parseOrderId } from './orderId.ts'

describe('parseAddress', () => {
  const checksummed = '0xFF162c694eAA571f685030649814282eA457f169'

  it('gives one form for every spelling', () => {
    assert.equal(parseAddress(checksummed), checksummed)
    assert.equal(parseAddress(checksummed.toLowerCase()), checksummed)
    assert.equal(parseAddress(`0x${checksummed.slice(2).toUpperCase()}`), checksummed)
  })

  it('refuses what is no address', () => {
    for (const text of [
      '',
      '0x',
      checksummed.slice(2),
      checksummed.slice(0, -1),
      `${checksummed}0`,
      `${checksummed}\n`,
    ]) {
      assert.equal(parseAddress(text), undefined, text)
    }
    assert.equal(parseAddress(`0X${checksummed.slice(2)}`), undefined)
    assert.equal(parseAddress(checksummed.replace('F', 'G')), undefined)
  })
})

describe('parseHex', () => {
  it('accepts whole bytes, also none, in lower case', () => {
    assert.equal(parseHex('0x'), '0x')
    assert.equal(parseHex('0xAb01'), '0xab01')
  })

  it('refuses half bytes and other text', () => {
    for (const text of ['', '0', '0x0', 'ab', '0xzz', '0x0\n', ' 0x00']) assert.equal(parseHex(text), undefined, text)
  })
})

describe('parseOrderId', () => {
  it('accepts what fits 53 bits', () => {
    assert.equal(parseOrderId('1'), '1')
    assert.equal(parseOrderId('5316911983139663'), '5316911983139663')
    assert.equal(parseOrderId('9007199254740991'), '9007199254740991')
  })

  it('refuses the rest', () => {
    for (const text of [
      '',
      '0',
      '01',
      '-1',
      '1.0',
      '1e3',
      '9007199254740992',
      '9999999999999999',
      '10000000000000000',
    ]) {
      assert.equal(parseOrderId(text), undefined, text)
    }
  })

  it('survives a trip through a double', () => {
    fc.assert(
      fc.property(
        fc.maxSafeNat().filter((id) => id > 0),
        (id) => assert.equal(String(Number(parseOrderId(String(id)))), String(id)),
      ),
    )
  })
})
