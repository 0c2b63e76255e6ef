import { getAddress } from 'viem'

/** 32 bytes as 64 hexadecimal digits. */
export type Word = string

/** Reads one word as a value of its type; throws when no contract could have written it. */
export type WordReader = (word: Word) => unknown

/** Widest type that viem gives as a number. */
const MAX_NUMBER_BITS = 48

export function wordReader(type: string): WordReader {
  if (type === 'address') return readAddress
  if (type === 'bool') return readBool
  const [, sign, bits] = /^(u?)int(\d+)$/.exec(type) ?? []
  if (bits === undefined) throw new Error(`no event that is used has a ${type}`)
  return sign === 'u' ? uintReader(Number(bits)) : intReader(Number(bits))
}

function readAddress(word: Word): `0x${string}` {
  if (!word.startsWith('0'.repeat(24))) throw new RangeError(`${word} is no address`)
  return getAddress(`0x${word.slice(24)}`)
}

function readBool(word: Word): boolean {
  const value = BigInt(`0x${word}`)
  if (value > 1n) throw new RangeError(`${word} is no bool`)
  return value === 1n
}

function uintReader(bits: number): WordReader {
  const end = 1n << BigInt(bits)
  return (word) => {
    const value = BigInt(`0x${word}`)
    if (value >= end) throw new RangeError(`${word} is no uint${bits}`)
    return bits <= MAX_NUMBER_BITS ? Number(value) : value
  }
}

function intReader(bits: number): WordReader {
  return (word) => {
    const value = BigInt.asIntN(256, BigInt(`0x${word}`))
    if (BigInt.asIntN(bits, value) !== value) throw new RangeError(`${word} is no int${bits}`)
    return bits <= MAX_NUMBER_BITS ? Number(value) : value
  }
}
