import { StartupError } from '@bezel/protocol'
import { readSecretFile } from '../../settings/secretFiles.ts'
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
  if (file === undefined) return undefined
  const what = "The relayer's key file"
  const setting = 'BEZEL_RELAYER_KEY_FILE'
  const holds = 'a private key'
  return parseKey(readSecretFile({ path: file, setting, what, holds, maxBytes: MAX_FILE_BYTES }), `${what} ${file}`)
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
