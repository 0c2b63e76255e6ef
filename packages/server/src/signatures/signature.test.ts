import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { parseSignature } from './signature.ts'
import { CURVE_ORDER, signatureText } from './testing/signatureText.ts'

const HALF_ORDER = CURVE_ORDER / 2n
const parses = (r: bigint, s: bigint, v = 27): boolean => parseSignature(signatureText({ r, s, v })) !== undefined

describe('parseSignature', () => {
  it('takes r, s and the recovery id apart', () => {
    const signature = parseSignature(signatureText({ r: 1n, s: 2n, v: 28 }))
    assert.equal(Buffer.from(signature?.rs ?? []).toString('hex'), `${'1'.padStart(64, '0')}${'2'.padStart(64, '0')}`)
    assert.equal(signature?.recoveryId, 1)
  })

  it('takes v as 0, 1, 27 or 28 and nothing else', () => {
    const idOf = (v: number): number | undefined => parseSignature(signatureText({ r: 1n, s: 1n, v }))?.recoveryId
    const ids = Array.from({ length: 256 }, (_, v) => [v, idOf(v)] as const).filter(([, id]) => id !== undefined)
    assert.deepEqual(Object.fromEntries(ids), { 0: 0, 1: 1, 27: 0, 28: 1 })
  })

  it('takes r from 1 to n - 1', () => {
    for (const r of [1n, CURVE_ORDER - 1n]) assert.ok(parses(r, 1n))
    for (const r of [0n, CURVE_ORDER, CURVE_ORDER + 1n, 2n ** 256n - 1n]) assert.ok(!parses(r, 1n))
  })

  it('takes s from 1 to half of n', () => {
    for (const s of [1n, HALF_ORDER]) assert.ok(parses(1n, s))
    const refused = [0n, HALF_ORDER + 1n, CURVE_ORDER - 1n, CURVE_ORDER, CURVE_ORDER + 1n, 2n ** 256n - 1n]
    for (const s of refused) assert.ok(!parses(1n, s))
  })

  it('says the same as arithmetic does', () => {
    const near = fc.tuple(
      fc.constantFrom(0n, HALF_ORDER, CURVE_ORDER, 2n ** 256n - 1n),
      fc.integer({ min: -3, max: 3 }),
    )
    const number = fc.oneof(
      fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }),
      near.map(([base, step]) => BigInt.asUintN(256, base + BigInt(step))),
    )
    fc.assert(
      fc.property(number, number, (r, s) => {
        assert.equal(parses(r, s), r > 0n && r < CURVE_ORDER && s > 0n && s <= HALF_ORDER)
      }),
      { numRuns: 2_000 },
    )
  })

  it('takes any case of digits, but only 65 whole bytes of them', () => {
    const good = signatureText({ r: 0xabcdefn, s: 0xfedcban, v: 27 })
    assert.deepEqual(parseSignature(good.toUpperCase().replace('0X', '0x')), parseSignature(good))
    const digits = good.slice(2)
    const wrongStart = ['', '0x', digits, `0X${digits}`, `00${digits}`, ` ${good}`, good.replace('0x', '0x0x')]
    const wrongEnd = [good.slice(0, -1), good.slice(0, -2), `${good}0`, `${good}1b`, `${good} `, `${good}\n`]
    const wrongInside = [
      good.replace('a', 'g'),
      good.replace('a', '\0'),
      '1'.repeat(1_000_000),
      `0x${'1'.repeat(1_000_000)}`,
    ]
    const bad = [...wrongStart, ...wrongEnd, ...wrongInside]
    for (const text of bad) assert.equal(parseSignature(text), undefined, text.slice(0, 200))
  })

  it('refuses foreign digits that Buffer would read as ASCII ones', () => {
    const good = signatureText({ r: 1n, s: 1n, v: 0 })
    assert.equal(parseSignature(good.replace('00', '\u0130\u0130')), undefined)
    assert.equal(parseSignature(good.replace('00', '\uff10\uff10')), undefined)
  })

  it('never throws, whatever the text', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (text) => parseSignature(text) === undefined))
  })
})
