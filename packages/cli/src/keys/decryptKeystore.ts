import { createDecipheriv, timingSafeEqual } from 'node:crypto'
import type { Hex } from 'viem'
import { KeyError } from '../errors/keyError.ts'
import { checksumOf } from './checksumOf.ts'
import { deriveKey } from './deriveKey.ts'
import type { Keystore } from './keystore.ts'

/** The private key in a keystore. Throws `KeyError` when the password is another one. */
export async function decryptKeystore({ crypto }: Keystore, password: string): Promise<Hex> {
  const ciphertext = Buffer.from(crypto.ciphertext, 'hex')
  const derived = await deriveKey(password, crypto)
  const expected = Buffer.from(crypto.mac, 'hex')
  const found = Buffer.from(checksumOf(derived, ciphertext), 'hex')
  if (expected.length !== found.length || !timingSafeEqual(expected, found)) {
    throw new KeyError('The password does not fit the keystore. Check BEZEL_KEYSTORE_PASSWORD_FILE or type it again.')
  }
  const iv = Buffer.from(crypto.cipherparams.iv, 'hex')
  const decipher = createDecipheriv('aes-128-ctr', derived.subarray(0, 16), iv)
  return `0x${Buffer.concat([decipher.update(ciphertext), decipher.final()]).toString('hex')}`
}
