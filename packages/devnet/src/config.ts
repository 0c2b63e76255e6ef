import { resolve } from 'node:path'
import {
  chainsSetting,
  choiceSetting,
  hostSetting,
  integerSetting,
  pathSetting,
  portSetting,
  readSettings,
  SettingsError,
  type ChainSlug,
} from '@bezel/protocol'

/** Every setting of the local chain. */
export const DEVNET_SETTINGS = {
  DEVNET_PORT: portSetting({ what: 'port of JSON-RPC and of the price feed', default: 8545 }),
  PORT: portSetting({ what: 'port of the service, written into devnet.json', default: 8080 }),
  HOST: hostSetting(),
  DEVNET_PUBLIC: choiceSetting({
    what: 'yes opens the local chain and its controls to everybody who reaches HOST; without it HOST must be local',
    default: 'no',
    choices: ['no', 'yes'],
  }),
  DEVNET_CHAINS: chainsSetting({ what: 'chains to run, separated by commas' }),
  DEVNET_BLOCK_MS: integerSetting({ what: 'milliseconds between blocks', default: 250, min: 10, max: 3_600_000 }),
  DEVNET_ORACLE_DELAY_MS: integerSetting({
    what: 'milliseconds from a price request to its answer',
    default: 1000,
    min: 0,
    max: 600_000,
  }),
  DEVNET_SEED: integerSetting({
    what: 'seed of the price walks; the same seed gives the same prices',
    default: 1,
    min: 0,
    max: 0xffff_ffff,
  }),
  DEVNET_LISTING: choiceSetting({
    what: 'pairs of the Diamond and the feed: a choice of the live ones, or as many as the live Diamond has',
    default: 'local',
    choices: ['local', 'live'],
  }),
  BEZEL_DATA: pathSetting({
    what: 'data folder; its contents are wiped at each start of the local chain',
    default: 'var',
  }),
} as const

/** The checked settings of one run. */
export interface DevnetConfig {
  readonly host: string
  /** Port of JSON-RPC and the feed; 0 means any free one. */
  readonly port: number
  /** Port of the service beside it, which is only written into devnet.json. */
  readonly servicePort: number
  readonly chains: readonly ChainSlug[]
  readonly blockMs: number
  readonly oracleDelayMs: number
  readonly seed: number
  /** Listed pairs: a choice of the live ones, or as many as the live Diamond has. */
  readonly listing: 'local' | 'live'
  /** Absolute path of the data folder. */
  readonly dataFolder: string
}

/** Reads the settings. Throws a `SettingsError` when one is unknown or not allowed. */
export function readDevnetConfig(env: Readonly<Record<string, string | undefined>>): DevnetConfig {
  const settings = readSettings(DEVNET_SETTINGS, env)
  if (settings.DEVNET_PUBLIC === 'no') refusePublicHost(settings.HOST)
  return {
    host: settings.HOST,
    port: settings.DEVNET_PORT,
    servicePort: settings.PORT,
    chains: settings.DEVNET_CHAINS,
    blockMs: settings.DEVNET_BLOCK_MS,
    oracleDelayMs: settings.DEVNET_ORACLE_DELAY_MS,
    seed: settings.DEVNET_SEED,
    listing: settings.DEVNET_LISTING,
    dataFolder: resolve(settings.BEZEL_DATA),
  }
}

/** Addresses that only programs on this machine reach. */
const LOCAL_HOST = /^(?:localhost|::1|127(?:\.\d{1,3}){3})$/i

/**
 * Refuses an address that others may reach. The controls of the local chain set prices, mint and mine for whoever asks,
 * and every key is public, so opening them takes a second setting: HOST alone may have been meant for the service.
 */
function refusePublicHost(host: string): void {
  if (LOCAL_HOST.test(host)) return
  throw new SettingsError(
    `HOST is ${JSON.stringify(host)}, and the local chain would let everybody who reaches it set prices and mint: leave HOST out, set DEVNET_PUBLIC=yes as well, or use npm run serve for the service alone.`,
  )
}
