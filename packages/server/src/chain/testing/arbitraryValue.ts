import fc from 'fast-check'
import { getAddress, type AbiParameter } from 'viem'

/** Returns values of a type, as viem encodes them. Lists have up to three elements. */
export function arbitraryOf(parameter: AbiParameter): fc.Arbitrary<unknown> {
  const { type } = parameter
  const [, of, count] = /^(.*)\[(\d*)\]$/.exec(type) ?? []
  if (of !== undefined) {
    const length = count === '' ? { maxLength: 3 } : { minLength: Number(count), maxLength: Number(count) }
    return fc.array(arbitraryOf({ ...parameter, type: of }), length)
  }
  if ('components' in parameter) {
    const fields = parameter.components.map((component) => [component.name!, arbitraryOf(component)])
    return fc.record(Object.fromEntries(fields), { noNullPrototype: true })
  }
  if (type === 'bool') return fc.boolean()
  if (type === 'string') return fc.string({ unit: 'grapheme' })
  if (type === 'address') return hexOf(20).map((digits) => getAddress(digits))
  const [, bytes] = /^bytes(\d+)$/.exec(type) ?? []
  return bytes === undefined ? integerOf(type) : hexOf(Number(bytes))
}

function integerOf(type: string): fc.Arbitrary<number | bigint> {
  const [, sign, digits] = /^(u?)int(\d+)$/.exec(type)!
  const bits = BigInt(digits!)
  const range =
    sign === 'u' ? { min: 0n, max: 2n ** bits - 1n } : { min: -(2n ** (bits - 1n)), max: 2n ** (bits - 1n) - 1n }
  return fc.bigInt(range).map((value) => (bits <= 48n ? Number(value) : value))
}

function hexOf(bytes: number): fc.Arbitrary<`0x${string}`> {
  const of = { minLength: bytes, maxLength: bytes }
  return fc.uint8Array(of).map((values): `0x${string}` => `0x${Buffer.from(values).toString('hex')}`)
}
