import type { SettingsOf } from '@bezel/protocol/program'
import type { Hex } from 'viem'
import { privateKeyToAccount, type PrivateKeyAccount } from 'viem/accounts'
import type { CommandArguments } from '../arguments/readOptions.ts'
import { KeyError, UsageError } from '../errors/cliError.ts'
import { decryptKeystore, readKeystoreFile } from '../keys/keystore.ts'
import { passwordAdvice, type PromptStreams, readPassword } from '../keys/readPassword.ts'
import type { CLI_SETTINGS } from './settings.ts'
import type { Target, Devnet } from './target.ts'

type Role = 'agent' | 'trader'

/** Finds the keys of a command where the user keeps them. */
export interface KeyRing {
  account(role: Role): Promise<PrivateKeyAccount>
  /** Returns true when the user named a key, and false when it would come from a local chain. */
  isNamed(role: Role): boolean
  /** Returns the address of the local chain's account without touching its key. */
  devnetAddress(role: Role): `0x${string}` | undefined
}

interface KeyRingOptions {
  readonly args: CommandArguments
  readonly settings: SettingsOf<typeof CLI_SETTINGS>
  readonly target: Target
  readonly streams: PromptStreams
  /** Called with every secret, so that the output never prints it. */
  readonly hide: (secret: string) => void
}

const SOURCES = {
  agent: { option: 'keystore', file: 'BEZEL_KEYSTORE', key: 'BEZEL_AGENT_KEY' },
  trader: { option: 'trader-keystore', file: 'BEZEL_TRADER_KEYSTORE', key: 'BEZEL_TRADER_KEY' },
} as const

interface DevnetNames {
  readonly trader: string
  readonly agent: string
}

const FIRST: DevnetNames = { trader: 'trader-1', agent: 'agent-1' }

/** Creates the key ring. Options win over the environment, and the environment over the accounts of a local chain. */
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
    const password = await readPassword(sources, `Password of ${path}: `)
    return decryptKeystore(keystore, password, passwordAdvice(sources, path))
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
    const where = `This command needs the ${role}'s key: name a keystore with --${option} (${file}), or set ${key}.`
    const folder = settings.BEZEL_DATA
    throw new KeyError(
      devnet === undefined
        ? `${where} No local chain is described in ${folder}, so its keys are not used: BEZEL_DATA names another folder.`
        : where,
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
      // Kept, so that the user is asked for a password only once.
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

/** Parses a private key from the environment. `name` is that of the variable; the complaint never repeats the value. */
function parsePrivateKey(text: string, name: string): Hex {
  const digits = /^(?:0x)?([0-9a-fA-F]{64})$/.exec(text.trim())?.[1]
  if (digits !== undefined && isOfCurve(`0x${digits}`)) return `0x${digits.toLowerCase()}`
  throw new KeyError(`${name} is no private key: it must be 64 hexadecimal digits, with or without 0x. Correct it.`)
}

/** Returns true when the number is a key of the curve: not zero, and below the order of the curve. */
function isOfCurve(key: Hex): boolean {
  try {
    privateKeyToAccount(key)
    return true
  } catch {
    return false
  }
}

/**
 * Returns the accounts of the local chain that `--as` names: `trader-2/agent-3`, or one of the two, which also selects
 * the other of the same number.
 */
function devnetNames(text: string | undefined, devnet: Devnet | undefined): DevnetNames {
  if (text === undefined) return FIRST
  if (devnet === undefined) {
    throw new UsageError(
      '--as names accounts of a local chain, and none is found here. Start one (npm start), or set BEZEL_DATA to its folder.',
    )
  }
  const names = split(text)
  const known = devnet.accounts.map(({ name }) => name)
  const unknown = [names.trader, names.agent].find((name) => !known.includes(name))
  if (unknown === undefined) return names
  throw new UsageError(
    `The local chain has no account ${JSON.stringify(unknown.slice(0, 40))}; it has ${known.join(', ')}.`,
  )
}

function split(text: string): DevnetNames {
  const [trader = '', agent] = text.split('/')
  if (agent !== undefined) return { trader, agent }
  const number = /^(?:trader|agent)-(\d+)$/.exec(trader)?.[1]
  if (number !== undefined) return { trader: `trader-${number}`, agent: `agent-${number}` }
  throw new UsageError(
    `--as ${JSON.stringify(text.slice(0, 40))} names no agent. Name both: --as ${text.slice(0, 40)}/agent-1.`,
  )
}
