import { addressBytes } from './addressBytes.ts'
import { keccak256 } from './keccak256.ts'

/** What EIP-712 calls encodeData of one member: 32 bytes. */
export type TypedDataWord = Uint8Array

/** Length of every word. */
export const WORD_BYTES = 32

// Exact on purpose: with leading zeros one nonce would have many texts, and the same signature would fit all of them.
const DECIMAL_PATTERN = /^(?:0|[1-9][0-9]{0,77})$/
const UINT256_MAX = 2n ** 256n - 1n

/** `string`: hash of its UTF-8 bytes; half a surrogate pair becomes U+FFFD, as in every other encoder. */
export function stringWord(text: string): TypedDataWord {
  return keccak256(Buffer.from(text, 'utf8'))
}

/** `uint256` from decimal digits or a JSON number; `undefined` when it is not a whole number in range. */
export function uint256Word(value: string | number): TypedDataWord | undefined {
  const text = String(value)
  if (!DECIMAL_PATTERN.test(text)) return undefined
  const number = Number(text)
  return Number.isSafeInteger(number) ? safeIntegerWord(number) : bigIntWord(BigInt(text))
}

/** `address`, in any case; `undefined` when the text is none. */
export function addressWord(text: string): TypedDataWord | undefined {
  const address = addressBytes(text)
  if (address === undefined) return undefined
  const word = new Uint8Array(WORD_BYTES)
  word.set(address, WORD_BYTES - address.length)
  return word
}

/** Every time and nearly every nonce is that small, and BigInt takes several times as long. */
function safeIntegerWord(number: number): TypedDataWord {
  const word = new Uint8Array(WORD_BYTES)
  let rest = number
  for (let index = WORD_BYTES - 1; rest > 0; index -= 1) {
    word[index] = rest % 256
    rest = Math.floor(rest / 256)
  }
  return word
}

function bigIntWord(number: bigint): TypedDataWord | undefined {
  if (number > UINT256_MAX) return undefined
  return new Uint8Array(Buffer.from(number.toString(16).padStart(2 * WORD_BYTES, '0'), 'hex'))
}
