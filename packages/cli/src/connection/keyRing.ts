import type { SettingsOf } from '@bezel/protocol'
import type { Hex } from 'viem'
import { privateKeyToAccount, type PrivateKeyAccount } from 'viem/accounts'
import type { CommandArguments } from '../arguments/commandArguments.ts'
import { KeyError } from '../errors/keyError.ts'
import { decryptKeystore } from '../keys/decryptKeystore.ts'
import { readKeystoreFile } from '../keys/keystoreFile.ts'
import { parsePrivateKey } from '../keys/parsePrivateKey.ts'
import type { PromptStreams } from '../keys/promptHidden.ts'
import { readPassword } from '../keys/readPassword.ts'
import { devnetNames } from './devnetNames.ts'
import type { CLI_SETTINGS } from './settings.ts'
import type { Target } from './target.ts'

export type Role = 'agent' | 'trader'

/** Finds the keys of a command where the user keeps them. */
export interface KeyRing {
  account(role: Role): Promise<PrivateKeyAccount>
  /** Whether a key was named, rather than found beside a local chain. */
  isNamed(role: Role): boolean
  /** The address of the local chain's account, without touching a key. */
  devnetAddress(role: Role): `0x${string}` | undefined
}

export interface KeyRingOptions {
  readonly args: CommandArguments
  readonly settings: SettingsOf<typeof CLI_SETTINGS>
  readonly target: Target
  readonly streams: PromptStreams
  /** Told of each secret, which must never be printed. */
  readonly hide: (secret: string) => void
}

const SOURCES = {
  agent: { option: 'keystore', file: 'BEZEL_KEYSTORE', key: 'BEZEL_AGENT_KEY' },
  trader: { option: 'trader-keystore', file: 'BEZEL_TRADER_KEYSTORE', key: 'BEZEL_TRADER_KEY' },
} as const

/** Options win over the environment, and that over the accounts of a local chain. */
export function createKeyRing({ args, settings, target, streams, hide }: KeyRingOptions): KeyRing {
  const { devnet } = target
  const names = devnetNames(args.text('as'), devnet)
  const published = (role: Role) => devnet?.accounts.find(({ name }) => name === names[role])

  async function unlock(path: string): Promise<Hex> {
    const keystore = readKeystoreFile(path)
    const sources = {
      password: settings.BEZEL_KEYSTORE_PASSWORD,
      passwordFile: settings.BEZEL_KEYSTORE_PASSWORD_FILE,
      streams,
    }
    return decryptKeystore(keystore, await readPassword(sources, `Password of ${path}: `))
  }

  async function privateKey(role: Role): Promise<Hex> {
    const { option, file, key } = SOURCES[role]
    const named = args.text(option)
    if (named !== undefined) return unlock(named)
    if (args.text('as') !== undefined) return published(role)!.privateKey
    const text = settings[key]
    const path = settings[file]
    if (text !== undefined && path !== undefined)
      throw new KeyError(`Both ${key} and ${file} are set: leave one of them out.`)
    if (text !== undefined) return parsePrivateKey(text, key)
    if (path !== undefined) return unlock(path)
    const found = published(role)
    if (found !== undefined) return found.privateKey
    throw new KeyError(
      `This command needs the ${role}'s key: name a keystore with --${option} (${file}), or set ${key}.`,
    )
  }

  async function unlocked(role: Role): Promise<PrivateKeyAccount> {
    const key = await privateKey(role)
    hide(key.slice(2))
    return privateKeyToAccount(key)
  }

  const accounts = new Map<Role, Promise<PrivateKeyAccount>>()
  return {
    account(role) {
      // Once: a password is not asked for twice.
      const known = accounts.get(role) ?? unlocked(role)
      accounts.set(role, known)
      return known
    },
    isNamed(role) {
      const { option, file, key } = SOURCES[role]
      const isOption = args.text(option) !== undefined || args.text('as') !== undefined
      return isOption || settings[file] !== undefined || settings[key] !== undefined
    },
    devnetAddress: (role) => published(role)?.address,
  }
}
