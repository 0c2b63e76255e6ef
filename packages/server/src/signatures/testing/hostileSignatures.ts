import { secp256k1 } from '@noble/curves/secp256k1'

/** Order n of the curve secp256k1. */
export const CURVE_ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

/** Parts of a signature, valid or out of range. */
export interface SignatureParts {
  readonly r: bigint
  readonly s: bigint
  readonly v: number
}

/** A signature that an implementation is likely to misjudge, with its digest. */
interface HostileSignature extends SignatureParts {
  readonly name: string
  readonly digest: bigint
}

const FIELD_PRIME = 2n ** 256n - 2n ** 32n - 977n

const UINT256_MAX = 2n ** 256n - 1n

const DIGEST = 0x61dfaa03e9cc0db4071308623b33593ae1643182149ec742e2549fe9fd804d4an

/** Returns all hostile signatures, each with both recovery ids. */
export function hostileSignatures(): HostileSignature[] {
  const all = [...outOfRange(), ...oddPoints(), ...pointsAtInfinity(), ...oddDigests()]
  return all.flatMap((one) => [0, 1].map((v) => ({ ...one, name: `${one.name}, v ${v}`, v })))
}

type Case = Omit<HostileSignature, 'v'>

function outOfRange(): Case[] {
  const edges = { 0: 0n, n: CURVE_ORDER, 'n - 1': CURVE_ORDER - 1n, 'n + 1': CURVE_ORDER + 1n, max: UINT256_MAX }
  const x = secp256k1.ProjectivePoint.BASE.x
  return Object.entries(edges).flatMap(([edge, value]) => [
    { name: `r = ${edge}`, r: value, s: 1n, digest: DIGEST },
    { name: `s = ${edge}`, r: x, s: value, digest: DIGEST },
    { name: `r = s = ${edge}`, r: value, s: value, digest: DIGEST },
  ])
}

function oddPoints(): Case[] {
  const x = secp256k1.ProjectivePoint.BASE.x
  return [
    // 5 ** 3 + 7 has no square root in the field.
    { name: 'r not on the curve', r: 5n, s: 1n, digest: DIGEST },
    { name: 'r on the curve only past n', r: FIELD_PRIME - CURVE_ORDER, s: 1n, digest: DIGEST },
    { name: 'r = p', r: FIELD_PRIME, s: 1n, digest: DIGEST },
    { name: 'r = x of the base point', r: x, s: 1n, digest: DIGEST },
    { name: 's in the upper half', r: x, s: CURVE_ORDER - 5n, digest: DIGEST },
    { name: 's one above the half', r: x, s: CURVE_ORDER / 2n + 1n, digest: DIGEST },
  ]
}

/**
 * Returns signatures whose key is the point at infinity. With R = k * G the key is (s * k - digest) / r * G, so digest
 * = s * k (or -s * k, for the other v) leaves no point.
 */
function pointsAtInfinity(): Case[] {
  return [1n, 2n, 12_345n].flatMap((k) => {
    const r = secp256k1.ProjectivePoint.BASE.multiply(k).x
    const s = 7n
    return [
      { name: `key at infinity, R = ${k} G`, r, s, digest: s * k },
      { name: `key at infinity, R = -${k} G`, r, s, digest: CURVE_ORDER - s * k },
    ]
  })
}

function oddDigests(): Case[] {
  const x = secp256k1.ProjectivePoint.BASE.x
  const digests = { 0: 0n, 1: 1n, n: CURVE_ORDER, 'n + 1': CURVE_ORDER + 1n, max: UINT256_MAX }
  return Object.entries(digests).map(([name, digest]) => ({ name: `digest = ${name}`, r: x, s: 3n, digest }))
}

/** Formats a signature as a client sends it: 65 bytes of hex. */
export function signatureText({ r, s, v }: SignatureParts): `0x${string}` {
  return `0x${wordText(r)}${wordText(s)}${v.toString(16).padStart(2, '0')}`
}

/** Formats a number as 32 bytes of hex, without a prefix. */
export function wordText(number: bigint): string {
  return number.toString(16).padStart(64, '0')
}
