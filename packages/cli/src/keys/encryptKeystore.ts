import { createCipheriv, randomBytes, randomUUID } from 'node:crypto'
import type { Hex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { checksumOf } from './checksumOf.ts'
import { DERIVED_BYTES, deriveKey } from './deriveKey.ts'
import type { Keystore, ScryptParams } from './keystore.ts'

/** As common wallets have it: 256 MB and about a second for each guess. */
const SCRYPT_N = 2 ** 18

/** Locks a private key with a password. */
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
