import { join, resolve } from 'node:path'
import {
  choiceSetting,
  hostSetting,
  integerSetting,
  pathSetting,
  portSetting,
  readSettings,
  textSetting,
  urlSetting,
  type Setting,
} from '@bezel/protocol'
import { CONSOLE_SETTING, type ConsolePlace } from './consolePlace.ts'
import { dataPlaceOf, PLACE_SETTINGS, type DataPlace } from './dataPlace.ts'
import { FACADE_SETTINGS, facadeSettingsOf, type FacadeSettings } from './facadeSettings.ts'
import { REDIS_SETTINGS, sharedRedisOf, type SharedRedis } from './redisPlace.ts'
import { withSecretFiles } from './secretFiles.ts'
import { requireAllRoles, ROLES_SETTING, type Role } from './roles.ts'
import { STOP_SETTINGS, stopTimesOf, type StopTimes } from './stopTimes.ts'

/** Callers that GET /metrics answers: programs on this machine, everybody, or nobody. */
const METRICS_EXPOSURES = ['loopback', 'all', 'off'] as const

export type MetricsExposure = (typeof METRICS_EXPOSURES)[number]

/** Scope of a request limit, in `details.scope` of RATE_LIMITED. API keys count as `agent`. */
export type LimitScope = 'ip' | 'agent' | 'agent-writes'

/** Requests per minute in each scope, as published at launch. Settings may change them. */
const DEFAULT_LIMITS: Readonly<Record<LimitScope, number>> = Object.freeze({
  ip: 600,
  agent: 300,
  'agent-writes': 60,
})

/** Value of the contact setting for a deployment without one. */
const NO_CONTACT = 'none'

export const DEFAULT_DOMAIN_NAME = 'Bezel Trading API'

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const

type LogLevel = (typeof LOG_LEVELS)[number]

/** Without a value, each chain has its own: calls to a live node cost money. */
const ACCOUNT_REFRESH_SETTING: Setting<number | undefined> = {
  ...integerSetting({
    what: 'milliseconds after which delegates, balances and own terms of active traders are read again',
    default: 2_000,
    min: 100,
    max: 600_000,
  }),
  defaultText: '30000 on a live chain, 2000 on a local one',
  defaultValue: undefined,
}

/** Every setting of the service. */
export const SERVER_SETTINGS = {
  PORT: portSetting({ what: 'port to listen on', default: 8080 }),
  HOST: hostSetting(),
  ...PLACE_SETTINGS,
  BEZEL_ROLES: ROLES_SETTING,
  ...REDIS_SETTINGS,
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
  BEZEL_IP_LIMIT: integerSetting({
    what: 'weight of the requests a minute from one IP; an IPv6 /64 counts as one, its /56 has twice and its /48 four times as much',
    default: DEFAULT_LIMITS.ip,
    min: 1,
    max: 1_000_000,
  }),
  BEZEL_AGENT_LIMIT: integerSetting({
    what: 'weight of the requests a minute of one agent or API key',
    default: DEFAULT_LIMITS.agent,
    min: 1,
    max: 1_000_000,
  }),
  BEZEL_AGENT_WRITE_LIMIT: integerSetting({
    what: 'POST, PATCH and DELETE requests a minute of one agent',
    default: DEFAULT_LIMITS['agent-writes'],
    min: 1,
    max: 1_000_000,
  }),
  BEZEL_REGISTRATION_LIMIT: integerSetting({
    what: 'authorisations of agents, API keys and facade approvals a minute from one IP; revocations are not counted',
    default: 10,
    min: 1,
    max: 1_000_000,
  }),
  BEZEL_MAX_CLAIMS: integerSetting({
    what: 'registrations that nothing on the chain speaks for, agents and API keys together; the oldest of the network that has most go first',
    default: 100_000,
    min: 100,
    max: 10_000_000,
  }),
  BEZEL_MAX_PREPARED_ORDERS: integerSetting({
    what: 'prepared orders that one agent may have open at a time',
    default: 20,
    min: 1,
    max: 10_000,
  }),
  BEZEL_PREPARED_MARKET_MS: integerSetting({
    what: 'milliseconds for which a prepared market order or close is valid',
    default: 60_000,
    min: 1_000,
    max: 3_600_000,
  }),
  BEZEL_PREPARED_RESTING_MS: integerSetting({
    what: 'milliseconds for which every other prepared transaction is valid',
    default: 300_000,
    min: 1_000,
    max: 3_600_000,
  }),
  BEZEL_UNKNOWN_HASH_MS: integerSetting({
    what: 'milliseconds after which a reported transaction that no node knows no longer counts as sent',
    default: 10_000,
    min: 100,
    max: 3_600_000,
  }),
  BEZEL_ACCOUNT_REFRESH_MS: ACCOUNT_REFRESH_SETTING,
  BEZEL_HEAD_POLL_MS: integerSetting({
    what: 'milliseconds between two looks for a new block, where no WebSocket tells of it',
    default: 2_000,
    min: 50,
    max: 60_000,
  }),
  BEZEL_TRUSTED_PROXIES: integerSetting({
    what: 'proxies of your own in front of the service, whose X-Forwarded-For is believed',
    default: 0,
    min: 0,
    max: 10,
  }),
  BEZEL_FEED_URL: urlSetting({
    what: 'price feed, http or https',
    defaultText: 'feedUrl in BEZEL_CHAINS_FILE',
  }),
  BEZEL_PUBLIC_URL: urlSetting({
    what: 'address under which clients reach the service, for the snippets of its documentation; http or https',
    defaultText: 'the address it listens on, which pages in a browser replace with their own',
  }),
  BEZEL_CONSOLE: CONSOLE_SETTING,
  BEZEL_MARKETS_REFRESH_MS: integerSetting({
    what: "milliseconds between two looks at what no event tells of a chain's markets, and at whether a few of them are as the events told",
    default: 10_000,
    min: 100,
    max: 600_000,
  }),
  BEZEL_MARKET_STATUS_MS: integerSetting({
    what: 'milliseconds between two looks at which markets the price feed says are open',
    default: 2_000,
    min: 100,
    max: 600_000,
  }),
  BEZEL_REPAIR_PAUSE_MS: integerSetting({
    what: "milliseconds between two requests for the price feed's history that repair candles",
    default: 1_100,
    min: 0,
    max: 600_000,
  }),
  BEZEL_QUIET_PRICE_MS: integerSetting({
    what: "age in milliseconds from which a market's last price needs the feed's /charts as a second witness before a position is opened",
    default: 60_000,
    min: 1_000,
    max: 3_600_000,
  }),
  BEZEL_UNANSWERED_MS: integerSetting({
    what: 'milliseconds of a chain without any execution, while requests wait for one, after which bezel_requests_stalled is 1',
    default: 600_000,
    min: 10_000,
    max: 86_400_000,
  }),
  BEZEL_CONNECTIONS: integerSetting({
    what: 'connections that may be open at a time, WebSockets included',
    default: 20_000,
    min: 1,
    max: 1_000_000,
  }),
  BEZEL_CONNECTIONS_PER_IP: integerSetting({
    what: 'connections that may be open at a time from one IP, WebSockets included; not counted behind proxies',
    default: 250,
    min: 1,
    max: 1_000_000,
  }),
  BEZEL_OVERLOAD_PERCENT: integerSetting({
    what: 'percent of 2 s that the event loop is busy, from which anonymous requests are refused while requests wait; 0 is never',
    default: 95,
    min: 0,
    max: 100,
  }),
  BEZEL_OVERLOAD_WAIT_MS: integerSetting({
    what: 'milliseconds that requests have to wait for their turn before anonymous ones are refused',
    default: 50,
    min: 1,
    max: 60_000,
  }),
  BEZEL_STREAM_CONNECTIONS: integerSetting({
    what: 'WebSockets that may be open at a time',
    default: 10_000,
    min: 1,
    max: 1_000_000,
  }),
  BEZEL_STREAM_CONNECTIONS_PER_IP: integerSetting({
    what: 'WebSockets that may be open at a time from one IP',
    default: 50,
    min: 1,
    max: 1_000_000,
  }),
  BEZEL_EVENTS_KEEP_DAYS: integerSetting({
    what: "days for which the events of an account's log are kept; 0 is for ever",
    default: 0,
    min: 0,
    max: 36_500,
  }),
  BEZEL_UNSENT_KEEP_DAYS: integerSetting({
    what: 'days for which prepared transactions that were never sent are kept after their expiry, with the orders that they would have made; 0 is for ever. Orders with a clientId are always kept',
    default: 0,
    min: 0,
    max: 36_500,
  }),
  BEZEL_AUDIT_IP_DAYS: integerSetting({
    what: "days for which the audit log keeps the callers' network addresses, which only the operator sees",
    default: 90,
    min: 1,
    max: 3_650,
  }),
  BEZEL_SECURITY_CONTACT: textSetting({
    what: 'address for reports of vulnerabilities in /.well-known/security.txt, which is not served without one',
    default: NO_CONTACT,
    pattern: /^(?:none|mailto:[^\s@]+@[^\s@]+|https:\/\/[^\s/]+\S*)$/,
    allowed: 'mailto: and an e-mail address, an https: URL, or none',
  }),
  ...FACADE_SETTINGS,
  ...STOP_SETTINGS,
  BEZEL_METRICS: choiceSetting({
    what: 'whom GET /metrics answers',
    default: 'loopback',
    choices: METRICS_EXPOSURES,
  }),
  LOG_LEVEL: choiceSetting({ what: 'least important log lines to print', default: 'info', choices: LOG_LEVELS }),
} as const

/** The checked settings of one run. */
export interface ServerConfig extends DataPlace, SharedRedis, FacadeSettings, StopTimes {
  readonly roles: readonly Role[]
  readonly host: string
  /** 0 for any free port. */
  readonly port: number
  /** Absolute path. */
  readonly chainsFile: string
  /** `undefined` when the chains file names the feed. */
  readonly feedUrl: string | undefined
  /** Address under which clients reach the service; `undefined` when nobody said. */
  readonly publicUrl: string | undefined
  readonly console: ConsolePlace
  readonly marketsRefreshMs: number
  readonly marketStatusMs: number
  readonly repairPauseMs: number
  /** Age from which a market's last price needs a second witness before a position is opened. */
  readonly quietPriceMs: number
  /** Time without any execution after which waiting requests count as stalled. */
  readonly unansweredMs: number
  readonly domainName: string
  /** Ends in a hyphen. */
  readonly headerPrefix: string
  /** Requests per minute. */
  readonly ipLimit: number
  readonly agentLimit: number
  readonly agentWriteLimit: number
  /** Registrations a minute from one IP. */
  readonly registrationLimit: number
  /** Registrations that never were in force, of the whole deployment. */
  readonly maxClaims: number
  readonly maxPreparedOrders: number
  readonly preparedMarketMs: number
  readonly preparedRestingMs: number
  readonly unknownHashMs: number
  /** `undefined`: 30 s on live chains, 2 s on local ones. */
  readonly accountRefreshMs: number | undefined
  readonly headPollMs: number
  readonly maxConnections: number
  readonly connectionsPerIp: number
  /** Percent of utilisation from which anonymous requests are shed; 0 sheds none. */
  readonly overloadPercent: number
  readonly overloadWaitMs: number
  readonly streamConnections: number
  readonly streamConnectionsPerIp: number
  /** 0 keeps events for ever. */
  readonly eventsKeepDays: number
  /** Days after which what was prepared and never sent is forgotten; 0 keeps it for ever. */
  readonly unsentKeepDays: number
  readonly auditIpDays: number
  /** URI for reports of vulnerabilities; `undefined` for none. */
  readonly securityContact: string | undefined
  readonly trustedProxies: number
  readonly metrics: MetricsExposure
  readonly logLevel: LogLevel
}

/** Reads the settings from the environment. Throws a `SettingsError` when one is unknown or not allowed. */
export function readServerConfig(env: Readonly<Record<string, string | undefined>>): ServerConfig {
  const settings = readSettings(SERVER_SETTINGS, withSecretFiles(env))
  const place = dataPlaceOf(settings)
  requireAllRoles(settings.BEZEL_ROLES, settings.DATABASE_URL)
  return {
    host: settings.HOST,
    port: settings.PORT,
    ...place,
    roles: settings.BEZEL_ROLES,
    ...sharedRedisOf(settings),
    chainsFile: resolve(settings.BEZEL_CHAINS_FILE ?? join(settings.BEZEL_DATA, 'devnet.json')),
    feedUrl: settings.BEZEL_FEED_URL,
    publicUrl: settings.BEZEL_PUBLIC_URL,
    console: settings.BEZEL_CONSOLE,
    marketsRefreshMs: settings.BEZEL_MARKETS_REFRESH_MS,
    marketStatusMs: settings.BEZEL_MARKET_STATUS_MS,
    repairPauseMs: settings.BEZEL_REPAIR_PAUSE_MS,
    quietPriceMs: settings.BEZEL_QUIET_PRICE_MS,
    unansweredMs: settings.BEZEL_UNANSWERED_MS,
    domainName: settings.BEZEL_DOMAIN_NAME,
    headerPrefix: settings.BEZEL_HEADER_PREFIX,
    ipLimit: settings.BEZEL_IP_LIMIT,
    agentLimit: settings.BEZEL_AGENT_LIMIT,
    agentWriteLimit: settings.BEZEL_AGENT_WRITE_LIMIT,
    registrationLimit: settings.BEZEL_REGISTRATION_LIMIT,
    maxClaims: settings.BEZEL_MAX_CLAIMS,
    maxPreparedOrders: settings.BEZEL_MAX_PREPARED_ORDERS,
    preparedMarketMs: settings.BEZEL_PREPARED_MARKET_MS,
    preparedRestingMs: settings.BEZEL_PREPARED_RESTING_MS,
    unknownHashMs: settings.BEZEL_UNKNOWN_HASH_MS,
    accountRefreshMs: settings.BEZEL_ACCOUNT_REFRESH_MS,
    headPollMs: settings.BEZEL_HEAD_POLL_MS,
    maxConnections: settings.BEZEL_CONNECTIONS,
    connectionsPerIp: settings.BEZEL_CONNECTIONS_PER_IP,
    overloadPercent: settings.BEZEL_OVERLOAD_PERCENT,
    overloadWaitMs: settings.BEZEL_OVERLOAD_WAIT_MS,
    streamConnections: settings.BEZEL_STREAM_CONNECTIONS,
    streamConnectionsPerIp: settings.BEZEL_STREAM_CONNECTIONS_PER_IP,
    eventsKeepDays: settings.BEZEL_EVENTS_KEEP_DAYS,
    unsentKeepDays: settings.BEZEL_UNSENT_KEEP_DAYS,
    auditIpDays: settings.BEZEL_AUDIT_IP_DAYS,
    securityContact: settings.BEZEL_SECURITY_CONTACT === NO_CONTACT ? undefined : settings.BEZEL_SECURITY_CONTACT,
    trustedProxies: settings.BEZEL_TRUSTED_PROXIES,
    ...facadeSettingsOf(settings),
    ...stopTimesOf(settings, place),
    metrics: settings.BEZEL_METRICS,
    logLevel: settings.LOG_LEVEL,
  }
}
