/** Whom GET /metrics answers: programs on this machine, everybody, or nobody. */
export const METRICS_EXPOSURES = ['loopback', 'all', 'off'] as const

export type MetricsExposure = (typeof METRICS_EXPOSURES)[number]

/** `auto` is the rule of `allowedSources`; the others are for deployments that know better. */
export const SOURCES_SETTINGS = ['auto', 'testnet', 'both'] as const

export type SourcesSetting = (typeof SOURCES_SETTINGS)[number]

/** What a limit is counted for; `details.scope` of RATE_LIMITED. API keys count as `agent`. */
export type LimitScope = 'ip' | 'agent' | 'agent-writes'

/** How many requests each scope has per window: the launch values of the interface. A deployment may set others. */
export const DEFAULT_LIMITS: Readonly<Record<LimitScope, number>> = Object.freeze({
  ip: 600,
  agent: 300,
  'agent-writes': 60,
})
