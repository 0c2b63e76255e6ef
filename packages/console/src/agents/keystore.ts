import { keccak256 } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'

/**
 * A keystore in the format Web3 Secret Storage, version 3, which other wallets and `bezel --keystore` read. The key is
 * derived by PBKDF2, because browsers have no scrypt of their own.
 */
export interface Keystore {
  readonly version: 3
  readonly id: string
  /** Address without `0x`, for people only: the real address follows from the key. */
  readonly address: string
  readonly crypto: {
    readonly cipher: 'aes-128-ctr'
    readonly cipherparams: { readonly iv: string }
    readonly ciphertext: string
    readonly kdf: 'pbkdf2'
    readonly kdfparams: {
      readonly dklen: 32
      readonly c: number
      readonly prf: 'hmac-sha256'
      readonly salt: string
    }
    readonly mac: string
  }
}

/** Rounds of PBKDF2: more than the 600,000 that OWASP asks of SHA-256, and about a second on a slow machine. */
const ROUNDS = 1_000_000

/** Length of the derived key: 16 bytes for the cipher, 16 for the checksum. */
const DERIVED_BYTES = 32

/** The shortest password that a keystore is made with. */
const MIN_PASSWORD_CHARS = 8

/** Encrypts a private key with a password. Throws `KeystoreUnavailableError` on a page without WebCrypto. */
export async function encryptKeystore(
  privateKey: `0x${string}`,
  password: string,
  { rounds = ROUNDS }: { readonly rounds?: number } = {},
): Promise<Keystore> {
  // Browsers leave it out on pages that come over plain http from another machine.
  if (globalThis.crypto?.subtle === undefined) throw new KeystoreUnavailableError()
  const salt = crypto.getRandomValues(new Uint8Array(32))
  const iv = crypto.getRandomValues(new Uint8Array(16))
  const derived = await deriveKey(password, salt, rounds)
  const ciphertext = await encrypt(bytesOf(privateKey), derived.slice(0, 16), iv)
  return {
    version: 3,
    id: crypto.randomUUID(),
    address: privateKeyToAccount(privateKey).address.slice(2).toLowerCase(),
    crypto: {
      cipher: 'aes-128-ctr',
      cipherparams: { iv: hexOf(iv) },
      ciphertext: hexOf(ciphertext),
      kdf: 'pbkdf2',
      kdfparams: { dklen: DERIVED_BYTES, c: rounds, prf: 'hmac-sha256', salt: hexOf(salt) },
      mac: checksumOf(derived, ciphertext),
    },
  }
}

/** Returns the name of the file as `bezel agent new` names it: after the address. */
export function keystoreFileName(address: string): string {
  return `${address}.json`
}

/** Returns what is wrong with a new password; null when it can be used. */
export function passwordProblem(password: string): string | null {
  return password.length < MIN_PASSWORD_CHARS ? `Take at least ${MIN_PASSWORD_CHARS} characters.` : null
}

async function deriveKey(password: string, salt: Uint8Array<ArrayBuffer>, rounds: number): Promise<Uint8Array> {
  // Normalised, so that a password has the same bytes whatever keyboard and system it was typed on.
  const bytes = new TextEncoder().encode(password.normalize('NFKC'))
  const material = await crypto.subtle.importKey('raw', bytes, 'PBKDF2', false, ['deriveBits'])
  const terms = { name: 'PBKDF2', hash: 'SHA-256', salt, iterations: rounds }
  return new Uint8Array(await crypto.subtle.deriveBits(terms, material, DERIVED_BYTES * 8))
}

async function encrypt(
  secret: Uint8Array<ArrayBuffer>,
  key: Uint8Array,
  iv: Uint8Array<ArrayBuffer>,
): Promise<Uint8Array> {
  const material = await crypto.subtle.importKey('raw', new Uint8Array(key), 'AES-CTR', false, ['encrypt'])
  return new Uint8Array(await crypto.subtle.encrypt({ name: 'AES-CTR', counter: iv, length: 128 }, material, secret))
}

/**
 * Returns the checksum that tells a wrong password from the right one, without `0x`: keccak256 of the second half of
 * the derived key and the ciphertext.
 */
function checksumOf(derived: Uint8Array, ciphertext: Uint8Array): string {
  return keccak256(new Uint8Array([...derived.slice(16), ...ciphertext])).slice(2)
}

function bytesOf(hex: `0x${string}`): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(hex.slice(2).match(/../g) ?? [], (pair) => Number.parseInt(pair, 16))
}

function hexOf(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** Thrown where the browser gives the page no cryptography. */
class KeystoreUnavailableError extends Error {
  override readonly name = 'KeystoreUnavailableError'

  constructor() {
    super(
      'This page has no encryption, because it came over plain http from another machine. Open it over https, or copy the key and keep it safe yourself.',
    )
  }
}
