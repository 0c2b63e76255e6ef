import fc from 'fast-check'
import type { JsonValue } from '../../../json/parseStrictJson.ts'
import { CURVE_ORDER, wordText } from '../../../signatures/testing/hostileSignatures.ts'

type Json = { [key: string]: JsonValue }

/** Changes an envelope, in its JSON form, into one that its signer never signed. */
export type Mutation = (envelope: Json) => Json

const flipBit = (hex: string, bit: number): string => `0x${wordText(BigInt(hex) ^ (1n << BigInt(bit)))}`

const bit = fc.nat({ max: 255 })

const anotherVault = fc.constantFrom('0x1719884eb866cb12b2287399b15f7db5e7d775ea', '00'.repeat(20))

const anotherTime = fc.oneof(fc.constantFrom(0, 1), fc.maxSafeNat())

/**
 * Mutations of the signature: one bit flipped, the other v, r and s swapped, and the twin signature with s in the upper
 * half.
 */
const signatureMutation: fc.Arbitrary<Mutation> = fc.oneof(
  fc
    .tuple(fc.constantFrom('r', 's'), bit)
    .map(([part, at]) => ofSignature((signature) => ({ ...signature, [part]: flipBit(String(signature[part]), at) }))),
  fc.constantFrom(
    ofSignature((signature) => ({ ...signature, v: signature.v === 27 ? 28 : 27 })),
    ofSignature(({ r, s, v }) => ({ r: s!, s: r!, v: v! })),
    ofSignature(({ r, s, v }) => ({
      r: r!,
      s: `0x${wordText(CURVE_ORDER - BigInt(String(s)))}`,
      v: v === 27 ? 28 : 27,
    })),
  ),
)

/** Mutations of the fields beside the action. */
const outerMutation: fc.Arbitrary<Mutation> = fc.oneof(
  fc.integer({ min: 1, max: 1_000_000 }).map((more) => (of: Json) => ({ ...of, nonce: Number(of.nonce) + more })),
  anotherVault.map((vault) => (of: Json) => ({ ...of, vaultAddress: of.vaultAddress === null ? vault : null })),
  anotherTime.map((time) => (of: Json) => ({ ...of, expiresAfter: of.expiresAfter === time ? null : time })),
)

/** Mutations of one value or key somewhere inside the action. */
const actionMutation: fc.Arbitrary<Mutation> = fc
  .tuple(fc.nat(), fc.constantFrom('value', 'drop', 'add', 'repeat'))
  .map(([at, kind]) => (of: Json) => ({
    ...of,
    action: changeAt(of.action!, { left: at % countOf(of.action!) }, kind),
  }))

export const anyMutation: fc.Arbitrary<Mutation> = fc.oneof(signatureMutation, outerMutation, actionMutation)

export const anySignatureOrActionMutation: fc.Arbitrary<Mutation> = fc.oneof(signatureMutation, actionMutation)

function ofSignature(change: (signature: Json) => Json): Mutation {
  return (envelope) => ({ ...envelope, signature: change(envelope.signature as Json) })
}

/** Counts the members and items at all depths. */
function countOf(value: JsonValue): number {
  if (value === null || typeof value !== 'object') return 0
  return Object.values(value).reduce<number>((sum, member) => sum + 1 + countOf(member), 0)
}

/** Changes the member or item that follows `left` others. */
function changeAt(value: JsonValue, at: { left: number }, kind: string): JsonValue {
  if (value === null || typeof value !== 'object') return value
  const entries = Object.entries(value).flatMap(([key, member]): [string, JsonValue][] => {
    if (at.left-- !== 0) return [[key, changeAt(member, at, kind)]]
    if (kind === 'drop') return []
    if (kind === 'value') return [[key, another(member)]]
    return [
      [key, member],
      [`${key}x`, kind === 'add' ? null : member],
    ]
  })
  return Array.isArray(value) ? entries.map(([, member]) => member) : Object.fromEntries(entries)
}

/** Returns a different value, never one with the same meaning, as `1.0` has for `1`. */
function another(value: JsonValue): JsonValue {
  if (typeof value === 'number') return value + 1
  if (typeof value === 'string') return `${value}1`
  if (typeof value === 'boolean') return !value
  return value === null ? 0 : null
}
