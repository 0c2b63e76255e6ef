import { join, resolve } from 'node:path'
import { choiceSetting, hostSetting, pathSetting, portSetting, readSettings, textSetting } from '@bezel/protocol'

export const DEFAULT_DOMAIN_NAME = 'Bezel Trading API'

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const
type LogLevel = (typeof LOG_LEVELS)[number]

/** Every setting of the service. */
export const SERVER_SETTINGS = {
  PORT: portSetting({ what: 'port to listen on', default: 8080 }),
  HOST: hostSetting(),
  BEZEL_DATA: pathSetting({ what: 'data folder', default: 'var' }),
  BEZEL_CHAINS_FILE: pathSetting({
    what: 'JSON file that names the chains to serve, their nodes and Diamonds',
    default: undefined,
    defaultText: 'devnet.json in BEZEL_DATA',
  }),
  BEZEL_DOMAIN_NAME: textSetting({
    what: 'name in the signing domain; two deployments on one Diamond must differ in it',
    default: DEFAULT_DOMAIN_NAME,
    pattern: /^[\x20-\x7e]{1,64}$/,
    allowed: '1 to 64 printable ASCII characters',
  }),
  BEZEL_HEADER_PREFIX: textSetting({
    what: 'what the names of the authentication headers start with',
    default: 'X-Service-',
    pattern: /^[A-Za-z][A-Za-z0-9-]{0,30}-$/,
    allowed: 'letters, digits and hyphens, starting with a letter, ending in a hyphen, at most 32 characters',
  }),
  LOG_LEVEL: choiceSetting({ what: 'least important log lines to print', default: 'info', choices: LOG_LEVELS }),
} as const

/** The settings of one run, checked. */
export interface ServerConfig {
  readonly host: string
  /** 0 = any free one. */
  readonly port: number
  /** Absolute path. */
  readonly chainsFile: string
  readonly domainName: string
  /** Ends in a hyphen. */
  readonly headerPrefix: string
  readonly logLevel: LogLevel
}

/** Throws a `SettingsError` when a setting is unknown or not allowed. */
export function readServerConfig(env: Readonly<Record<string, string | undefined>>): ServerConfig {
  const settings = readSettings(SERVER_SETTINGS, env)
  return {
    host: settings.HOST,
    port: settings.PORT,
    chainsFile: resolve(settings.BEZEL_CHAINS_FILE ?? join(settings.BEZEL_DATA, 'devnet.json')),
    domainName: settings.BEZEL_DOMAIN_NAME,
    headerPrefix: settings.BEZEL_HEADER_PREFIX,
    logLevel: settings.LOG_LEVEL,
  }
}
