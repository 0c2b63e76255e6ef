import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { choiceSetting, pathSetting, StartupError } from '@bezel/protocol'

/** The places to which PostgreSQL and Redis may be spoken to without TLS: this machine alone, or everywhere. */
const PLAIN_PLACES = ['loopback', 'all'] as const

/** The settings that say whom PostgreSQL and Redis are believed to be. */
export const TRUST_SETTINGS = {
  BEZEL_DATABASE_CA_FILE: pathSetting({
    what: "PEM file of the authority that signed PostgreSQL's certificate; sslrootcert in DATABASE_URL means the same",
    default: undefined,
    defaultText: 'the authorities that node knows',
  }),
  BEZEL_PLAIN_CONNECTIONS: choiceSetting({
    what: 'where PostgreSQL and Redis may be reached without verified TLS',
    default: 'loopback',
    choices: PLAIN_PLACES,
  }),
} as const

/** The setting of the authority for `rediss:`. */
export const REDIS_CA_SETTING = pathSetting({
  what: 'PEM file of the authority that signed the certificate of Redis, for an address with rediss:',
  default: undefined,
  defaultText: 'the authorities that node knows',
})

/** The address of a server, and what is needed to trust it. */
export interface TrustedPlace {
  /** Secret when it holds a password: never logged, and in no error. */
  readonly url: string
  /** Path of the PEM file of the authority. Default: the authorities that node knows. */
  readonly caFile?: string | undefined
  /** True when TLS is not demanded of servers elsewhere. Default false. */
  readonly isPlainAllowed?: boolean
}

/** Options of TLS that verify the certificate and the name of the server, whatever the environment says. */
export interface VerifiedTls {
  readonly rejectUnauthorized: true
  /** Certificates of the authority in PEM; left out for those that node knows. */
  readonly ca?: string
  /** Certificate and key of this client, in PEM. */
  readonly cert?: string
  readonly key?: string
  /** Name of the server for its choice of a certificate; an IP address has none. */
  readonly servername?: string
}

/** An address as the driver takes it, and the TLS of its connections; `false` for none. */
export interface PostgresTarget {
  readonly url: string
  readonly ssl: VerifiedTls | false
}

/** Parameters of an address about TLS that are understood. Any other could undo what they ask for. */
const KNOWN_TLS_PARAMETERS: ReadonlySet<string> = new Set(['sslmode', 'sslrootcert', 'sslcert', 'sslkey'])

/** Value of `sslrootcert` for the authorities of the system, as PostgreSQL's own programs have it. */
const SYSTEM_AUTHORITIES = 'system'

/**
 * Returns the way to a PostgreSQL server: with TLS that verifies it, or without any. Throws a `StartupError` for a
 * server elsewhere without such TLS, and for modes that encrypt without knowing with whom.
 */
export function postgresTargetOf({ url, caFile, isPlainAllowed = false }: TrustedPlace): PostgresTarget {
  const target = new URL(url)
  const { searchParams } = target
  const host = hostOf(searchParams.getAll('host').at(-1) || target.hostname)
  // The driver would take a host that is left out from the environment.
  if (host === '') searchParams.set('host', LOCALHOST)
  const parameters = takeTlsParameters(searchParams)
  const mode = parameters.get('sslmode') ?? 'disable'
  if (mode === 'verify-full') return { url: target.href, ssl: databaseTls(host, parameters, caFile) }
  if (mode !== 'disable') {
    throw new StartupError(
      `sslmode=${mode} of DATABASE_URL does not make sure whom it talks to: write sslmode=verify-full, or sslmode=disable for no TLS.`,
    )
  }
  if (!isPlainAllowed && !isThisMachine(host)) {
    throw new StartupError(
      `PostgreSQL at ${host} is on another machine, and DATABASE_URL asks for no verified TLS: add sslmode=verify-full (and sslrootcert or BEZEL_DATABASE_CA_FILE for an authority of your own), or set BEZEL_PLAIN_CONNECTIONS to all where nobody else can listen.`,
    )
  }
  return { url: target.href, ssl: false }
}

/** Takes the parameters about TLS out of an address, because the driver has a mind of its own about them. */
function takeTlsParameters(parameters: URLSearchParams): ReadonlyMap<string, string> {
  const taken = new Map([...parameters].filter(([name]) => /^(?:ssl|uselibpqcompat$)/i.test(name)))
  for (const name of taken.keys()) {
    if (!KNOWN_TLS_PARAMETERS.has(name)) {
      throw new StartupError(
        `DATABASE_URL has the parameter ${name}, which is not known here: write sslmode=verify-full instead.`,
      )
    }
    parameters.delete(name)
  }
  return taken
}

function databaseTls(host: string, parameters: ReadonlyMap<string, string>, caFile: string | undefined): VerifiedTls {
  const rootFile = parameters.get('sslrootcert')
  if (rootFile !== undefined && caFile !== undefined) {
    throw new StartupError(
      'Both sslrootcert of DATABASE_URL and BEZEL_DATABASE_CA_FILE name an authority: leave one of them out.',
    )
  }
  const file = rootFile === SYSTEM_AUTHORITIES ? undefined : (rootFile ?? caFile)
  const [cert, key] = ['sslcert', 'sslkey'].map((name) => {
    const path = parameters.get(name)
    return path === undefined ? undefined : readPem(path, `${name} of DATABASE_URL`)
  })
  return {
    ...verifiedTls(host, file, rootFile === undefined ? 'BEZEL_DATABASE_CA_FILE' : 'sslrootcert of DATABASE_URL'),
    ...(cert !== undefined && { cert }),
    ...(key !== undefined && { key }),
  }
}

/** Options of the socket to a Redis server: none, or its TLS. */
export type RedisTls = Record<never, never> | (VerifiedTls & { readonly tls: true })

/**
 * Returns the TLS of a Redis server. Throws a `StartupError` for a server elsewhere without TLS, and for an authority
 * that nobody asks.
 */
export function redisTlsOf({ url, caFile, isPlainAllowed = false }: TrustedPlace): RedisTls {
  const { protocol, hostname } = new URL(url)
  const host = hostOf(hostname)
  if (protocol === 'rediss:') return { tls: true, ...verifiedTls(host, caFile, 'BEZEL_REDIS_CA_FILE') }
  if (caFile !== undefined) {
    throw new StartupError('BEZEL_REDIS_CA_FILE is set and REDIS_URL asks for no TLS: write rediss: in REDIS_URL.')
  }
  if (isPlainAllowed || isThisMachine(host)) return {}
  throw new StartupError(
    `Redis at ${host} is on another machine, and REDIS_URL asks for no TLS: write rediss: (and BEZEL_REDIS_CA_FILE for an authority of your own), or set BEZEL_PLAIN_CONNECTIONS to all where nobody else can listen.`,
  )
}

function verifiedTls(host: string, caFile: string | undefined, setting: string): VerifiedTls {
  return {
    rejectUnauthorized: true,
    ...(caFile !== undefined && { ca: readPem(caFile, setting) }),
    ...(isIP(host) === 0 && { servername: host }),
  }
}

function readPem(path: string, setting: string): string {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    throw new StartupError(
      `The file ${path} can't be read (${(error as NodeJS.ErrnoException).code}): correct ${setting}.`,
    )
  }
  if (text.includes('-----BEGIN ')) return text
  throw new StartupError(`The file ${path} holds nothing in PEM: correct ${setting}.`)
}

const LOCALHOST = 'localhost'

/** Returns a host as it is connected to: an IPv6 address without its brackets, the path of a socket decoded. */
function hostOf(hostname: string): string {
  return decodeURIComponent(hostname).replace(/^\[(.+)\]$/, '$1')
}

/** True for a host that no network leads to: none, a loopback address, or the folder of a socket. */
function isThisMachine(host: string): boolean {
  return (
    host === '' || host === LOCALHOST || host === '::1' || host.startsWith('/') || /^127(?:\.\d{1,3}){3}$/.test(host)
  )
}

/** Codes of Node.js and OpenSSL for a certificate that was not accepted. */
const CERTIFICATE_CODES = /^(?:ERR_TLS_CERT_|CERT_|SELF_SIGNED_|DEPTH_ZERO_|UNABLE_TO_(?:GET|VERIFY)_|INVALID_CA)/

/** Returns the reason why a certificate was not accepted; `undefined` for an error that is about something else. */
export function certificateProblem(error: unknown): string | undefined {
  const { code, message } = error as NodeJS.ErrnoException
  return code !== undefined && CERTIFICATE_CODES.test(code) ? message : undefined
}
