/** Settings with intervals longer than a benchmark, so that only its own requests are at work. */
export const QUIET_SERVICE = { BEZEL_MARKETS_REFRESH_MS: '600000', BEZEL_ACCOUNT_REFRESH_MS: '600000' }

/** Settings of a service that refuses no request of a benchmark for its number. */
export const NO_LIMITS = {
  BEZEL_IP_LIMIT: '1000000',
  BEZEL_REGISTRATION_LIMIT: '1000000',
  BEZEL_OVERLOAD_PERCENT: '0',
  BEZEL_AGENT_LIMIT: '1000000',
  BEZEL_AGENT_WRITE_LIMIT: '1000000',
}
