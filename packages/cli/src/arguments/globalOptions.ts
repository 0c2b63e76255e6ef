import type { OptionTable } from './optionSpec.ts'

/** What every command takes. None of them is a key: arguments are seen by everybody on the machine and kept by shells. */
export const GLOBAL_OPTIONS = {
  url: { type: 'string', value: 'URL', what: 'address of the service (BEZEL_URL)' },
  chain: { type: 'string', value: 'CHAIN', what: 'chain, for instance base (BEZEL_CHAIN)' },
  rpc: { type: 'string', value: 'URL', what: "the chain's own node, for what is sent (BEZEL_RPC_URL)" },
  diamond: {
    type: 'string',
    value: 'ADDRESS',
    what: 'the contract that is traded on, if not the known one (BEZEL_DIAMOND)',
  },
  keystore: { type: 'string', value: 'FILE', what: "encrypted file of the agent's key (BEZEL_KEYSTORE)" },
  'trader-keystore': {
    type: 'string',
    value: 'FILE',
    what: "encrypted file of the trader's key (BEZEL_TRADER_KEYSTORE)",
  },
  trader: { type: 'string', value: 'ADDRESS', what: 'whose account is read with BEZEL_API_KEY (BEZEL_TRADER)' },
  as: { type: 'string', value: 'NAMES', what: 'accounts of the local chain: trader-2, or trader-2/agent-3' },
  json: { type: 'boolean', what: 'JSON on stdout, everything else on stderr' },
  help: { type: 'boolean', what: 'this text' },
  version: { type: 'boolean', what: 'the version' },
} as const satisfies OptionTable
