import { parseServerUrl, pathSetting, secretSetting, type Setting } from '@bezel/protocol/program'
import { CHAIN_SLUGS, parseAddress, parseChainSlug } from '@bezel/protocol/wire'

/** Address of the service when none is given and no local chain is found. */
export const DEFAULT_URL = 'http://127.0.0.1:8080'
export const DEFAULT_CHAIN = 'arbitrum-sepolia'

/** Every setting of the command line. The option of the same meaning wins over a setting. */
export const CLI_SETTINGS = {
  BEZEL_URL: optional({
    what: 'address of the service',
    defaultText: `that of the local chain, else ${DEFAULT_URL}`,
    allowed: 'an http or https address',
    parse: parseServerUrl,
  }),
  BEZEL_CHAIN: optional({
    what: 'chain',
    defaultText: `${DEFAULT_CHAIN}, or the first that a local chain has`,
    allowed: `one of ${CHAIN_SLUGS.join(', ')}`,
    parse: parseChainSlug,
  }),
  BEZEL_RPC_URL: optional({
    what: "URL of the chain's node, needed to send",
    defaultText: 'that of the local chain',
    allowed: 'an http or https address',
    parse: parseServerUrl,
  }),
  BEZEL_DIAMOND: optional({
    what: 'Diamond to trade on',
    defaultText: "that of the local chain, else the chain's live one",
    allowed: 'an address',
    parse: parseAddress,
  }),
  BEZEL_DATA: pathSetting({ what: 'folder of devnet.json, the description of a local chain', default: 'var' }),
  BEZEL_KEYSTORE: pathSetting({ what: "encrypted file of the agent's key", default: undefined, defaultText: 'none' }),
  BEZEL_TRADER_KEYSTORE: pathSetting({
    what: "encrypted file of the trader's key",
    default: undefined,
    defaultText: 'none',
  }),
  BEZEL_KEYSTORE_PASSWORD: secretSetting({ what: 'password of keystore files' }),
  BEZEL_KEYSTORE_PASSWORD_FILE: pathSetting({
    what: 'file with the password of keystore files in its first line',
    default: undefined,
    defaultText: 'asked for on the terminal',
  }),
  BEZEL_AGENT_KEY: secretSetting({ what: "the agent's private key" }),
  BEZEL_TRADER_KEY: secretSetting({ what: "the trader's private key" }),
  BEZEL_API_KEY: secretSetting({ what: 'read-only key, for commands that only read' }),
  BEZEL_TRADER: optional({
    what: 'trader whose account is meant; keys of any other are refused',
    defaultText: 'on the sandbox the one that --as names, elsewhere needed',
    allowed: 'an address',
    parse: parseAddress,
  }),
  BEZEL_HEADER_PREFIX: optional({
    what: 'prefix of the authentication headers',
    defaultText: 'X-Service-',
    allowed: 'letters, digits and hyphens, ending in a hyphen',
    parse: (text) => (/^[A-Za-z][A-Za-z0-9-]{0,30}-$/.test(text) ? text : undefined),
  }),
} as const

function optional<Value>(of: Omit<Setting<Value | undefined>, 'defaultValue'>): Setting<Value | undefined> {
  return { ...of, defaultValue: undefined }
}
