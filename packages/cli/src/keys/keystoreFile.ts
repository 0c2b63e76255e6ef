import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { KeyError, UsageError } from '../errors/cliError.ts'
import type { Keystore } from './keystore.ts'

/** Size limit of a keystore file, far more than any keystore needs. */
const MAX_BYTES = 65_536

const HEX = /^(?:[0-9a-fA-F]{2})+$/

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
