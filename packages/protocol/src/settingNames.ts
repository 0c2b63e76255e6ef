/**
 * Every setting with a reserved prefix, of all programs of Bezel. They share one environment (`npm start` hands it to each), so each
 * must know the others' names to tell them from a typing error. A test compares this list with the tables of the programs.
 */
export const PREFIXED_SETTING_NAMES: readonly string[] = [
  'BEZEL_ACCOUNT_REFRESH_MS',
  'BEZEL_AGENT_LIMIT',
  'BEZEL_AGENT_WRITE_LIMIT',
  'BEZEL_CHAINS_FILE',
  'BEZEL_DATA',
  'BEZEL_DOMAIN_NAME',
  'BEZEL_EVENTS_KEEP_DAYS',
  'BEZEL_FEED_URL',
  'BEZEL_HEADER_PREFIX',
  'BEZEL_HEAD_POLL_MS',
  'BEZEL_IP_LIMIT',
  'BEZEL_MARKETS_REFRESH_MS',
  'BEZEL_MARKET_STATUS_MS',
  'BEZEL_MAX_PREPARED_ORDERS',
  'BEZEL_METRICS',
  'BEZEL_PREPARED_MARKET_MS',
  'BEZEL_PREPARED_RESTING_MS',
  'BEZEL_STREAM_CONNECTIONS',
  'BEZEL_STREAM_CONNECTIONS_PER_IP',
  'BEZEL_TRUSTED_PROXIES',
  'DEVNET_BLOCK_MS',
  'DEVNET_CHAINS',
  'DEVNET_ORACLE_DELAY_MS',
  'DEVNET_PORT',
  'DEVNET_SEED',
]
