import { type SigningDomain, type TypedDataField, ADDRESS_PATTERN } from '@bezel/protocol'
import { createKeccak } from 'hash-wasm'

// One hasher for the process. A hash is started, fed and read synchronously, so no other hash can interfere.
const hasher = await createKeccak(256)

/** The encoding of one member of an EIP-712 struct: 32 bytes. */
export type TypedDataWord = Uint8Array

const WORD_BYTES = 32

// No leading zeros: they would give one nonce many texts, and the same signature would fit all of them.
const DECIMAL_PATTERN = /^(?:0|[1-9][0-9]{0,77})$/
const UINT256_MAX = 2n ** 256n - 1n

const DOMAIN_TYPE_HASH = typeHash('EIP712Domain', [
  { name: 'name', type: 'string' },
  { name: 'version', type: 'string' },
  { name: 'chainId', type: 'uint256' },
  { name: 'verifyingContract', type: 'address' },
])

// Domain separators by domain object. A deployment makes one for each chain it serves; weak, so that an unused domain
// is freed with its entry.
const separators = new WeakMap<SigningDomain, TypedDataWord>()

/** Words of the longest struct, AgentAuthorization: its type hash and 8 members. */
const MAX_STRUCT_WORDS = 9

// Buffers shared by all calls: each call writes and hashes them synchronously.
const struct = new Uint8Array(MAX_STRUCT_WORDS * WORD_BYTES)
const signed = Uint8Array.of(0x19, 0x01, ...new Uint8Array(2 * WORD_BYTES))

/**
 * Returns the EIP-712 digest that a wallet signs for a struct; `undefined` when one of its members can't be encoded.
 */
export function typedDataDigest(
  domain: SigningDomain,
  type: TypedDataWord,
  members: readonly (TypedDataWord | undefined)[],
): Uint8Array | undefined {
  struct.set(type)
  let end = WORD_BYTES
  for (const member of members) {
    if (member?.length !== WORD_BYTES) return undefined
    struct.set(member, end)
    end += WORD_BYTES
  }
  signed.set(domainSeparator(domain), 2)
  signed.set(keccak256(struct.subarray(0, end)), 2 + WORD_BYTES)
  return keccak256(signed)
}

/**
 * Returns the hash of the domain, computed once per object. Throws when the chain id or the Diamond can't be encoded,
 * which means a wrong setting.
 */
export function domainSeparator(domain: SigningDomain): TypedDataWord {
  const known = separators.get(domain)
  if (known !== undefined) return known
  const separator = hashDomain(domain)
  separators.set(domain, separator)
  return separator
}

function hashDomain({ name, version, chainId, verifyingContract }: SigningDomain): TypedDataWord {
  const chainIdWord = uint256Word(chainId)
  const contractWord = addressWord(verifyingContract)
  if (chainIdWord === undefined) throw new RangeError(`${chainId} is no chain id`)
  if (contractWord === undefined) throw new TypeError(`${verifyingContract} is no address`)
  const words = [DOMAIN_TYPE_HASH, stringWord(name), stringWord(version), chainIdWord, contractWord]
  return keccak256(Buffer.concat(words))
}

/**
 * Returns the hash of a struct's type, such as `AgentRevocation(address agent,uint256 timestamp)`. Members must not be
 * structs.
 */
export function typeHash(primaryType: string, fields: readonly TypedDataField[]): TypedDataWord {
  return stringWord(structType(primaryType, fields))
}

/** Returns a struct's type in the words of EIP-712 (`encodeType`), primary type first. */
export function structType(primaryType: string, fields: readonly TypedDataField[]): string {
  return `${primaryType}(${fields.map(({ name, type }) => `${type} ${name}`).join(',')})`
}

/**
 * Encodes a `string` as the hash of its UTF-8 bytes. Half a surrogate pair becomes U+FFFD, as in every other encoder.
 */
export function stringWord(text: string): TypedDataWord {
  return keccak256(Buffer.from(text, 'utf8'))
}

/** Encodes a `uint256` from decimal digits or a JSON number; `undefined` when it is not a whole number in range. */
export function uint256Word(value: string | number): TypedDataWord | undefined {
  const text = String(value)
  if (!DECIMAL_PATTERN.test(text)) return undefined
  const number = Number(text)
  return Number.isSafeInteger(number) ? safeIntegerWord(number) : bigIntWord(BigInt(text))
}

/** Encodes an `address` in any letter case; `undefined` when the text is not an address. */
export function addressWord(text: string): TypedDataWord | undefined {
  const address = addressBytes(text)
  if (address === undefined) return undefined
  const word = new Uint8Array(WORD_BYTES)
  word.set(address, WORD_BYTES - address.length)
  return word
}

/**
 * Encodes a safe integer without BigInt, which takes several times as long. Every time and nearly every nonce is one.
 */
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

/**
 * Returns the 20 bytes of an address in any letter case, for comparison without checksums; `undefined` when the text is
 * not an address.
 */
export function addressBytes(text: string): Uint8Array | undefined {
  return ADDRESS_PATTERN.test(text) ? Buffer.from(text.slice(2), 'hex') : undefined
}

/** Hashes bytes without copying them. The result is a new array that the caller owns. */
export function keccak256(bytes: Uint8Array): Uint8Array {
  hasher.init()
  hasher.update(bytes)
  return hasher.digest('binary')
}
