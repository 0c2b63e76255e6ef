import { pbkdf2, scrypt, createCipheriv, randomBytes, randomUUID, createDecipheriv, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { keccak256, type Hex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { KeyError, UsageError } from '../errors/cliError.ts'

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

/** Size limit of a keystore file, far more than any keystore needs. */
const MAX_BYTES = 65_536

const HEX = /^(?:[0-9a-fA-F]{2})+$/

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

/** Throws when the file exists, before the user is asked for a password. A key is never overwritten. */
export function refuseExisting(path: string): void {
  if (existsSync(path)) throw new UsageError(`${path} is there already. Name another file: a key is never overwritten.`)
}

/** Writes a new file that only its owner can read. */
export function writeKeystoreFile(path: string, keystore: Keystore): void {
  refuseExisting(path)
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    writeFileSync(path, `${JSON.stringify(keystore, null, 2)}\n`, { mode: 0o600, flag: 'wx' })
  } catch (error) {
    throw new KeyError(`${path} can't be written (${codeOf(error)}). Name another file.`)
  }
}

/** Reads and checks a keystore file. Throws `KeyError` when it can't be read. */
export function readKeystoreFile(path: string): Keystore {
  let text: string
  try {
    if (statSync(path).size > MAX_BYTES) throw new KeyError(`${path} is too large for a keystore. Name another file.`)
    text = readFileSync(path, 'utf8')
  } catch (error) {
    if (error instanceof KeyError) throw error
    throw new KeyError(
      `The keystore ${path} can't be read (${codeOf(error)}). Correct --keystore, or make one with bezel agent new.`,
    )
  }
  return parseKeystore(text, path)
}

/** Parses and checks the text of a keystore file. `path` is for the complaint, which never repeats the content. */
export function parseKeystore(text: string, path: string): Keystore {
  const file = lowerNames(parseJson(text)) as Partial<Keystore> | undefined
  const crypto = file?.crypto
  const params = crypto?.kdfparams
  const isKeystore =
    file?.version === 3 &&
    crypto?.cipher === 'aes-128-ctr' &&
    (crypto.kdf === 'scrypt' || crypto.kdf === 'pbkdf2') &&
    typeof params === 'object' &&
    [crypto.ciphertext, crypto.mac, crypto.cipherparams?.iv, params.salt].every((value) => isHex(value)) &&
    crypto.ciphertext.length === 64 &&
    crypto.cipherparams.iv.length === 32
  if (isKeystore) return file as Keystore
  throw new KeyError(`${path} is no keystore (Web3 Secret Storage, version 3). Make one with bezel agent new.`)
}

/** Returns the object with member names in lower case, because the first wallets wrote `Crypto`. */
function lowerNames(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return undefined
  return Object.fromEntries(Object.entries(value).map(([name, entry]) => [name.toLowerCase(), entry]))
}

function isHex(value: unknown): boolean {
  return typeof value === 'string' && HEX.test(value)
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? 'unknown'
}
