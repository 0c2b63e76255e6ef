import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { secp256k1 } from '@noble/curves/secp256k1'
import fc from 'fast-check'
import { recoverAddress as viemRecoverAddress } from 'viem'
import { privateKeyToAddress } from 'viem/accounts'
import { recoverAddress, parseSignature, type Signature } from './recovery.ts'
import { ENGINES, NATIVE_SKIP } from './testing/engines.ts'
import {
  hostileSignatures,
  CURVE_ORDER,
  signatureText,
  wordText,
  type SignatureParts,
} from './testing/hostileSignatures.ts'

const HALF_ORDER = CURVE_ORDER / 2n

const parses = (r: bigint, s: bigint, v = 27): boolean => parseSignature(signatureText({ r, s, v })) !== undefined

/**
 * Number of runs of each of the two properties. A run takes about 6 ms, most of it in JavaScript: the `js` engine and
 * viem.
 */
const RUNS = Number(process.env['SIGNATURE_RUNS'] ?? 1_000)

const UINT256_MAX = 2n ** 256n - 1n

const bytesOf = (number: bigint): Uint8Array => Buffer.from(wordText(number), 'hex')

const hexOf = (address: Uint8Array | undefined): string | undefined =>
  address && `0x${Buffer.from(address).toString('hex')}`

/** Makes a signature without the check of `parseSignature`, so that the engines have to agree by themselves. */
function unchecked({ r, s, v }: SignatureParts): Signature {
  const rs: Uint8Array = Buffer.concat([bytesOf(r), bytesOf(s)])
  return { rs, recoveryId: v } as Signature
}

async function viemAnswer(digest: bigint, parts: SignatureParts): Promise<string | undefined> {
  const answer = viemRecoverAddress({ hash: `0x${wordText(digest)}`, signature: signatureText(parts) })
  return answer.then(
    (address) => address.toLowerCase(),
    () => undefined,
  )
}

/**
 * Asserts that all engines and viem give the same answer. Returns it, or `undefined` when `parseSignature` refuses the
 * signature.
 */
async function agreeOn(digest: bigint, parts: SignatureParts): Promise<string | undefined> {
  const expected = await viemAnswer(digest, parts)
  const signature = unchecked(parts)
  for (const engine of ENGINES) {
    assert.equal(hexOf(recoverAddress(engine, bytesOf(digest), signature)), expected, engine.name)
  }
  const parsed = parseSignature(signatureText(parts))
  if (parsed === undefined) return undefined
  assert.deepEqual(parsed, signature)
  return expected
}

const anyUint256 = fc.bigInt({ min: 0n, max: UINT256_MAX })

const bit = fc.constantFrom(0, 1)

describe('recoverAddress', () => {
  it('has three engines to compare', { skip: NATIVE_SKIP }, () => {
    assert.deepEqual(
      ENGINES.map(({ name }) => name),
      ['native', 'wasm', 'js'],
    )
  })

  for (const { name, digest, ...parts } of hostileSignatures()) {
    it(`agrees on ${name}`, async () => {
      const answer = await agreeOn(digest, parts)
      const isLow = parts.s <= CURVE_ORDER / 2n
      if (!isLow) assert.equal(answer, undefined)
    })
  }

  it('finds no key at infinity', async () => {
    const found = hostileSignatures().filter(({ name }) => name.startsWith('key at infinity'))
    const answers = await Promise.all(found.map(({ digest, ...parts }) => agreeOn(digest, parts)))
    // In each pair of recovery ids, one gives the point at infinity and the other an ordinary key.
    assert.equal(answers.filter((answer) => answer === undefined).length, found.length / 2)
  })

  it('finds no key for an r that is no point', async () => {
    for (const v of [0, 1]) assert.equal(await agreeOn(1n, { r: 5n, s: 1n, v }), undefined)
  })

  it('agrees on random numbers', async () => {
    const property = fc.asyncProperty(anyUint256, anyUint256, anyUint256, bit, async (digest, r, s, v) => {
      await agreeOn(digest, { r, s, v })
    })
    await fc.assert(property, { numRuns: RUNS })
  })

  it('agrees on signatures of a key, whole and changed in one place', async () => {
    const key = fc.bigInt({ min: 1n, max: CURVE_ORDER - 1n })
    const change = fc.constantFrom('none', 'r', 's', 'v', 'high s', 'swapped', 'other digest')
    const property = fc.asyncProperty(
      key,
      anyUint256,
      change,
      fc.nat({ max: 255 }),
      async (secret, digest, what, shift) => {
        const { r, s, recovery: v } = secp256k1.sign(wordText(digest), wordText(secret))
        const flip = 1n << BigInt(shift)
        const signed = { r, s, v }
        const changed = {
          none: signed,
          r: { r: r ^ flip, s, v },
          s: { r, s: s ^ flip, v },
          v: { r, s, v: 1 - v },
          'high s': { r, s: CURVE_ORDER - s, v: 1 - v },
          swapped: { r: s, s: r, v },
          'other digest': signed,
        }[what]
        const answer = await agreeOn(what === 'other digest' ? digest ^ flip : digest, changed)
        const signer = privateKeyToAddress(`0x${wordText(secret)}`).toLowerCase()
        if (what === 'none') assert.equal(answer, signer)
        else assert.notEqual(answer, signer)
      },
    )
    await fc.assert(property, { numRuns: RUNS })
  })

  it('refuses a digest that is not 32 bytes long', () => {
    const signature = parseSignature(signatureText({ r: secp256k1.ProjectivePoint.BASE.x, s: 1n, v: 27 }))
    assert.ok(signature)
    for (const engine of ENGINES) {
      assert.equal(recoverAddress(engine, new Uint8Array(32).fill(1), signature)?.length, 20)
      for (const length of [0, 1, 31, 33, 64, 1_000_000]) {
        assert.equal(recoverAddress(engine, new Uint8Array(length).fill(1), signature), undefined)
      }
    }
  })

  it('hands out bytes of its own each time', () => {
    const [digest, signature] = [bytesOf(1n), unchecked({ r: secp256k1.ProjectivePoint.BASE.x, s: 1n, v: 0 })]
    for (const engine of ENGINES) {
      const first = hexOf(recoverAddress(engine, digest, signature))
      recoverAddress(engine, digest, signature)?.fill(0)
      assert.equal(hexOf(recoverAddress(engine, digest, signature)), first)
    }
  })
})

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
