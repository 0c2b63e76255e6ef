import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs'
import { StartupError } from '@bezel/protocol'
import { createRelayerKey, type RelayerKey } from './relayerKey.ts'
import { loadSigningEngine } from './signingEngine.ts'

/** The source of the key. With neither field, the facade is read-only. */
export interface RelayerKeySource {
  /** The key as 64 hex digits, with or without `0x`: `BEZEL_RELAYER_KEY`. */
  readonly hex: string | undefined
  /** Path of a file with such a key: `BEZEL_RELAYER_KEY_FILE`. */
  readonly file: string | undefined
}

const KEY_PATTERN = /^(?:0x)?([0-9a-fA-F]{64})$/
/** The modes of the key file: only the owner may read it, and perhaps write it. */
const FILE_MODES: readonly number[] = [0o600, 0o400]
const MODE_BITS = 0o777
/** The largest key file, a key with its line end. A longer file holds something else. */
const MAX_FILE_BYTES = 200

/**
 * Reads the key; `undefined` when none is configured. Throws a `StartupError`, which never contains a digit of the key.
 */
export async function readRelayerKey({ hex, file }: RelayerKeySource): Promise<RelayerKey | undefined> {
  if (hex !== undefined && file !== undefined) {
    throw new StartupError('Both BEZEL_RELAYER_KEY and BEZEL_RELAYER_KEY_FILE are set: leave one of them out.')
  }
  if (hex !== undefined) return parseKey(hex, 'BEZEL_RELAYER_KEY')
  return file === undefined ? undefined : parseKey(readKeyFile(file).trim(), `The relayer's key file ${file}`)
}

async function parseKey(text: string, what: string): Promise<RelayerKey> {
  const digits = KEY_PATTERN.exec(text)?.[1]
  const engine = await loadSigningEngine()
  try {
    if (digits !== undefined) return createRelayerKey(Buffer.from(digits, 'hex'), engine)
  } catch {
    // The number is zero, or not below the order of the curve.
  }
  throw new StartupError(`${what} holds no private key: it takes 64 hexadecimal digits.`)
}

/** Reads the key file. Mode and content come from the same open file, so the file can't be swapped in between. */
function readKeyFile(path: string): string {
  const opened = open(path)
  try {
    const { mode, size } = fstatSync(opened)
    if (!FILE_MODES.includes(mode & MODE_BITS)) throw wrongMode(path, mode & MODE_BITS)
    if (size > MAX_FILE_BYTES) throw new StartupError(`The relayer's key file ${path} holds more than a private key.`)
    return readFileSync(opened, 'utf8')
  } finally {
    closeSync(opened)
  }
}

function open(path: string): number {
  try {
    return openSync(path, 'r')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new StartupError(`The relayer's key file ${path} can't be read (${code}): correct BEZEL_RELAYER_KEY_FILE.`)
  }
}

function wrongMode(path: string, mode: number): StartupError {
  const shown = mode.toString(8).padStart(4, '0')
  return new StartupError(
    `The relayer's key file ${path} has mode ${shown}, and others must not read it: chmod 600 it, and use a new key if others could.`,
  )
}
