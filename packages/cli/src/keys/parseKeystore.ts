import { KeyError } from '../errors/keyError.ts'
import type { Keystore } from './keystore.ts'

const HEX = /^(?:[0-9a-fA-F]{2})+$/

/** The text of a keystore file, checked. `path` is for the complaint, which never repeats the content. */
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

/** The first wallets wrote `Crypto`. */
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
