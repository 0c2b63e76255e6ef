import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { KeyError } from '../errors/keyError.ts'
import { UsageError } from '../errors/usageError.ts'
import type { Keystore } from './keystore.ts'
import { parseKeystore } from './parseKeystore.ts'

/** Far more than any keystore needs. */
const MAX_BYTES = 65_536

/** Throws before a password is asked for in vain. A key is never written over another one. */
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

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? 'unknown'
}
