/**
 * Every setting with a reserved prefix, of all programs of Bezel. They share one environment (`npm start` hands it to each), so each
 * must know the others' names to tell them from a typing error. A test compares this list with the tables of the programs.
 */
export const PREFIXED_SETTING_NAMES: readonly string[] = [
  'BEZEL_CHAINS_FILE',
  'BEZEL_DATA',
  'BEZEL_DOMAIN_NAME',
  'BEZEL_HEADER_PREFIX',
  'DEVNET_BLOCK_MS',
  'DEVNET_CHAINS',
  'DEVNET_ORACLE_DELAY_MS',
  'DEVNET_PORT',
  'DEVNET_SEED',
]
