import { keccak256, type Hex } from 'viem'
import { pbkdf2, scrypt, createCipheriv, randomBytes, randomUUID, createDecipheriv, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import { KeyError } from '../errors/cliError.ts'
import { privateKeyToAccount } from 'viem/accounts'

/** A keystore in the format Web3 Secret Storage, version 3, which other wallets read and write too. */
export interface Keystore {
  readonly version: 3
  readonly id: string
  /** Address without `0x`, for people only: the real address follows from the key. */
  readonly address: string
  readonly crypto: {
    readonly cipher: 'aes-128-ctr'
    readonly cipherparams: { readonly iv: string }
    readonly ciphertext: string
    readonly kdf: 'scrypt' | 'pbkdf2'
    readonly kdfparams: ScryptParams | Pbkdf2Params
    readonly mac: string
  }
}

interface ScryptParams {
  readonly dklen: number
  readonly n: number
  readonly r: number
  readonly p: number
  readonly salt: string
}

interface Pbkdf2Params {
  readonly dklen: number
  readonly c: number
  readonly prf: 'hmac-sha256'
  readonly salt: string
}

/** Scrypt cost of common wallets: 256 MB and about one second for each guess. */
const SCRYPT_N = 2 ** 18

/** Length of the derived key: 16 bytes for the cipher, 16 for the checksum. */
const DERIVED_BYTES = 32

/** Memory limit of scrypt: four times what wallets use. A file that asks for more would only block the machine. */
const MAX_SCRYPT_BYTES = 1024 ** 3

/** Extra memory for node's own bookkeeping beside the scrypt table. */
const ROOM_BYTES = 1024 ** 2

const MAX_SCRYPT_PARALLEL = 16

const MAX_PBKDF2_ROUNDS = 10_000_000

/** Encrypts a private key with a password. */
export async function encryptKeystore(privateKey: Hex, password: string, { n = SCRYPT_N } = {}): Promise<Keystore> {
  const kdfparams: ScryptParams = { dklen: DERIVED_BYTES, n, r: 8, p: 1, salt: randomBytes(32).toString('hex') }
  const derived = await deriveKey(password, { kdf: 'scrypt', kdfparams })
  const iv = randomBytes(16)
  const cipher = createCipheriv('aes-128-ctr', derived.subarray(0, 16), iv)
  const ciphertext = Buffer.concat([cipher.update(Buffer.from(privateKey.slice(2), 'hex')), cipher.final()])
  return {
    version: 3,
    id: randomUUID(),
    address: privateKeyToAccount(privateKey).address.slice(2).toLowerCase(),
    crypto: {
      cipher: 'aes-128-ctr',
      cipherparams: { iv: iv.toString('hex') },
      ciphertext: ciphertext.toString('hex'),
      kdf: 'scrypt',
      kdfparams,
      mac: checksumOf(derived, ciphertext),
    },
  }
}

/** Decrypts the private key of a keystore. Throws `KeyError` for a wrong password; `advice` says how to correct it. */
export async function decryptKeystore(
  { crypto }: Keystore,
  password: string,
  advice = 'Try another one.',
): Promise<Hex> {
  const ciphertext = Buffer.from(crypto.ciphertext, 'hex')
  const derived = await deriveKey(password, crypto)
  const expected = Buffer.from(crypto.mac, 'hex')
  const found = Buffer.from(checksumOf(derived, ciphertext), 'hex')
  if (expected.length !== found.length || !timingSafeEqual(expected, found)) {
    throw new KeyError(`The password does not fit the keystore. ${advice}`)
  }
  const iv = Buffer.from(crypto.cipherparams.iv, 'hex')
  const decipher = createDecipheriv('aes-128-ctr', derived.subarray(0, 16), iv)
  return `0x${Buffer.concat([decipher.update(ciphertext), decipher.final()]).toString('hex')}`
}

/**
 * Derives the key from a password, by either function of the format. Throws `KeyError` for parameters out of bounds.
 */
export function deriveKey(
  password: string,
  { kdf, kdfparams }: Pick<Keystore['crypto'], 'kdf' | 'kdfparams'>,
): Promise<Buffer> {
  // Normalised, so that a password has the same bytes whatever keyboard and system it was typed on.
  const bytes = Buffer.from(password.normalize('NFKC'), 'utf8')
  if (kdfparams.dklen !== DERIVED_BYTES) throw outOfBounds()
  return kdf === 'scrypt'
    ? deriveByScrypt(bytes, kdfparams as ScryptParams)
    : deriveByPbkdf2(bytes, kdfparams as Pbkdf2Params)
}

function deriveByScrypt(password: Buffer, { n, r, p, salt }: ScryptParams): Promise<Buffer> {
  const bytes = 128 * r * (n + p + 2)
  const isPowerOfTwo = Number.isInteger(Math.log2(n)) && n >= 2
  // A requirement of RFC 7914; node refuses other values.
  const isDefined = Math.log2(n) < 16 * r
  const isWithin = bytes <= MAX_SCRYPT_BYTES && r >= 1 && p >= 1 && p <= MAX_SCRYPT_PARALLEL
  if (!isPowerOfTwo || !isDefined || !isWithin || ![r, p].every(Number.isInteger)) throw outOfBounds()
  const derive = promisify<Buffer, Buffer, number, object, Buffer>(scrypt)
  return derive(password, Buffer.from(salt, 'hex'), DERIVED_BYTES, { N: n, r, p, maxmem: bytes + ROOM_BYTES })
}

function deriveByPbkdf2(password: Buffer, { c, prf, salt }: Pbkdf2Params): Promise<Buffer> {
  if (prf !== 'hmac-sha256' || !Number.isInteger(c) || c < 1 || c > MAX_PBKDF2_ROUNDS) throw outOfBounds()
  return promisify(pbkdf2)(password, Buffer.from(salt, 'hex'), c, DERIVED_BYTES, 'sha256')
}

function outOfBounds(): KeyError {
  return new KeyError(
    'The keystore asks for a key derivation that is unknown or out of bounds. Make it anew with your wallet.',
  )
}

/**
 * Returns the checksum that tells a wrong password from the right one, without `0x`: keccak256 of the second half of
 * the derived key and the ciphertext.
 */
function checksumOf(derived: Buffer, ciphertext: Buffer): string {
  return keccak256(Buffer.concat([derived.subarray(16), ciphertext])).slice(2)
}
