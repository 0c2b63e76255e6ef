import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { secp256k1 } from '@noble/curves/secp256k1'
import fc from 'fast-check'
import { recoverAddress as viemRecoverAddress } from 'viem'
import { privateKeyToAddress } from 'viem/accounts'
import { recoverAddress } from './recoverAddress.ts'
import { parseSignature, type Signature } from './signature.ts'
import { ENGINES, NATIVE_SKIP } from './testing/engines.ts'
import { hostileSignatures } from './testing/hostileSignatures.ts'
import { CURVE_ORDER, signatureText, wordText, type SignatureParts } from './testing/signatureText.ts'

/** Of each of the two properties. One costs about 6 ms, most of it in JavaScript: the `js` engine and viem. */
const RUNS = Number(process.env['SIGNATURE_RUNS'] ?? 1_000)

const UINT256_MAX = 2n ** 256n - 1n
const bytesOf = (number: bigint): Uint8Array => Buffer.from(wordText(number), 'hex')
const hexOf = (address: Uint8Array | undefined): string | undefined =>
  address && `0x${Buffer.from(address).toString('hex')}`

/** Past the check of `parseSignature`, so that the engines have to agree by themselves. */
function unchecked({ r, s, v }: SignatureParts): Signature {
  return { rs: Buffer.concat([bytesOf(r), bytesOf(s)]), recoveryId: v } as unknown as Signature
}

async function viemAnswer(digest: bigint, parts: SignatureParts): Promise<string | undefined> {
  const answer = viemRecoverAddress({ hash: `0x${wordText(digest)}`, signature: signatureText(parts) })
  return answer.then(
    (address) => address.toLowerCase(),
    () => undefined,
  )
}

/** All engines and viem give one answer. Returns what is left of it after `parseSignature`, which refuses some that have one. */
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

const number = fc.bigInt({ min: 0n, max: UINT256_MAX })
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
    // One of each pair of recovery ids is the point at infinity, the other a plain key.
    assert.equal(answers.filter((answer) => answer === undefined).length, found.length / 2)
  })

  it('finds no key for an r that is no point', async () => {
    for (const v of [0, 1]) assert.equal(await agreeOn(1n, { r: 5n, s: 1n, v }), undefined)
  })

  it('agrees on random numbers', async () => {
    const property = fc.asyncProperty(number, number, number, bit, async (digest, r, s, v) => {
      await agreeOn(digest, { r, s, v })
    })
    await fc.assert(property, { numRuns: RUNS })
  })

  it('agrees on signatures of a key, whole and changed in one place', async () => {
    const key = fc.bigInt({ min: 1n, max: CURVE_ORDER - 1n })
    const change = fc.constantFrom('none', 'r', 's', 'v', 'high s', 'swapped', 'other digest')
    const property = fc.asyncProperty(
      key,
      number,
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
