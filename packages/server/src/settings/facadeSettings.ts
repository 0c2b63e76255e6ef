import { choiceSetting, integerSetting, pathSetting, secretSetting, type SettingsOf } from '@bezel/protocol'

/**
 * Networks for which the facade accepts signatures. `auto` follows the rule of `allowedSources`; the others override
 * it.
 */
const SOURCES_SETTINGS = ['auto', 'testnet', 'both'] as const

export type SourcesSetting = (typeof SOURCES_SETTINGS)[number]

/** The settings of the exchange-shaped facade and its relayer. */
export const FACADE_SETTINGS = {
  BEZEL_RELAYER_KEY: secretSetting({
    what: "private key of the facade's relayer, which pays gas on every chain; without one the facade only reads",
  }),
  BEZEL_RELAYER_KEY_FILE: pathSetting({
    what: 'file with that key instead, which only its owner may read (mode 0600 or 0400)',
    default: undefined,
    defaultText: 'none',
  }),
  BEZEL_FACADE_SOURCES: choiceSetting({
    what: "networks that the facade's envelopes may be signed for; auto is testnet on live mainnets and both elsewhere",
    default: 'auto',
    choices: SOURCES_SETTINGS,
  }),
  BEZEL_FACADE_FILL_WAIT_MS: integerSetting({
    what: 'milliseconds for which the facade holds its answer to an order for the fill',
    default: 6_000,
    min: 0,
    max: 60_000,
  }),
} as const

/** The checked settings of the facade. */
export interface FacadeSettings {
  /** Secret: never logged. */
  readonly relayerKey: string | undefined
  readonly relayerKeyFile: string | undefined
  readonly facadeSources: SourcesSetting
  readonly facadeFillWaitMs: number
}

export function facadeSettingsOf(settings: SettingsOf<typeof FACADE_SETTINGS>): FacadeSettings {
  return {
    relayerKey: settings.BEZEL_RELAYER_KEY,
    relayerKeyFile: settings.BEZEL_RELAYER_KEY_FILE,
    facadeSources: settings.BEZEL_FACADE_SOURCES,
    facadeFillWaitMs: settings.BEZEL_FACADE_FILL_WAIT_MS,
  }
}
