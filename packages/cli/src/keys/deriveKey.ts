import { pbkdf2, scrypt } from 'node:crypto'
import { promisify } from 'node:util'
import { KeyError } from '../errors/keyError.ts'
import type { Keystore, Pbkdf2Params, ScryptParams } from './keystore.ts'

/** What the format calls the derived key: 16 bytes for the cipher, 16 for the checksum. */
export const DERIVED_BYTES = 32

/** Four times what wallets use. A file that asks for more would only hold up the machine. */
const MAX_SCRYPT_BYTES = 1024 ** 3
/** Node's own bookkeeping beside the table. */
const ROOM_BYTES = 1024 ** 2
const MAX_SCRYPT_PARALLEL = 16
const MAX_PBKDF2_ROUNDS = 10_000_000

/** The derived key of a password, by either function that the format knows. Throws `KeyError` for terms that are out of bounds. */
export function deriveKey(
  password: string,
  { kdf, kdfparams }: Pick<Keystore['crypto'], 'kdf' | 'kdfparams'>,
): Promise<Buffer> {
  // One password, whatever keyboard and system it was typed on.
  const bytes = Buffer.from(password.normalize('NFKC'), 'utf8')
  if (kdfparams.dklen !== DERIVED_BYTES) throw outOfBounds()
  return kdf === 'scrypt'
    ? deriveByScrypt(bytes, kdfparams as ScryptParams)
    : deriveByPbkdf2(bytes, kdfparams as Pbkdf2Params)
}

function deriveByScrypt(password: Buffer, { n, r, p, salt }: ScryptParams): Promise<Buffer> {
  const bytes = 128 * r * (n + p + 2)
  const isPowerOfTwo = Number.isInteger(Math.log2(n)) && n >= 2
  // RFC 7914 wants it, and node refuses the rest.
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
