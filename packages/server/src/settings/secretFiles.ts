import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs'
import { pathSetting, StartupError } from '@bezel/protocol'

/** The settings that name a file with a secret instead of the secret itself. */
export const SECRET_FILE_SETTINGS = {
  DATABASE_URL_FILE: secretFileSetting('DATABASE_URL'),
  REDIS_URL_FILE: secretFileSetting('REDIS_URL'),
} as const

/** The modes of a file with a secret: only the owner may read it, and perhaps write it. */
const FILE_MODES: readonly number[] = [0o600, 0o400]
const MODE_BITS = 0o777
/** The largest file with an address. A longer one holds something else. */
const MAX_ADDRESS_BYTES = 2_000

type Environment = Readonly<Record<string, string | undefined>>

/**
 * Returns the environment with the secrets that `DATABASE_URL_FILE` and `REDIS_URL_FILE` name. Throws a `StartupError`
 * when a file can't be used, or the secret is set as well.
 */
export function withSecretFiles(env: Environment): Environment {
  const named = Object.keys(SECRET_FILE_SETTINGS).filter((setting) => (env[setting] ?? '') !== '')
  return { ...env, ...Object.fromEntries(named.map((setting) => secretOf(setting, env))) }
}

function secretOf(setting: string, env: Environment): [name: string, secret: string] {
  const name = setting.replace(/_FILE$/, '')
  if ((env[name] ?? '') !== '') throw new StartupError(`Both ${name} and ${setting} are set: leave one of them out.`)
  const path = env[setting]!
  const secret = readSecretFile({ path, setting, what: 'The file', holds: 'an address', maxBytes: MAX_ADDRESS_BYTES })
  if (secret === '') throw new StartupError(`The file ${path} is empty: write the address of ${name} into it.`)
  return [name, secret]
}

/**
 * Reads a file with a secret, without the space around it. Mode and content come from the same open file, so the file
 * can't be swapped in between. Throws a `StartupError`, which never contains the secret.
 */
export function readSecretFile(of: {
  readonly path: string
  /** Name of the setting that names the file. */
  readonly setting: string
  /** The file in a sentence, before its path. */
  readonly what: string
  /** The secret in a sentence. */
  readonly holds: string
  readonly maxBytes: number
}): string {
  const { path, setting, what, holds, maxBytes } = of
  const opened = open(`${what} ${path}`, path, setting)
  try {
    const { mode, size } = fstatSync(opened)
    if (!FILE_MODES.includes(mode & MODE_BITS)) throw wrongMode(`${what} ${path}`, mode & MODE_BITS)
    if (size > maxBytes) throw new StartupError(`${what} ${path} holds more than ${holds}.`)
    return readFileSync(opened, 'utf8').trim()
  } finally {
    closeSync(opened)
  }
}

function open(name: string, path: string, setting: string): number {
  try {
    return openSync(path, 'r')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new StartupError(`${name} can't be read (${code}): correct ${setting}.`)
  }
}

function wrongMode(name: string, mode: number): StartupError {
  const shown = mode.toString(8).padStart(4, '0')
  return new StartupError(
    `${name} has mode ${shown}, and others must not read it: chmod 600 it, and use a new secret if others could.`,
  )
}

function secretFileSetting(name: string) {
  return pathSetting({
    what: `file with ${name} instead, which only its owner may read (mode 0600 or 0400)`,
    default: undefined,
    defaultText: 'none',
  })
}
