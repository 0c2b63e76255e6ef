import { createHash } from 'node:crypto'
import { createClient, ErrorReply } from 'redis'
import { StartupError } from '@bezel/protocol'
import { backoffMs } from '../ground/backoff.ts'
import { every } from '../ground/every.ts'
import { certificateProblem, redisTlsOf, type RedisTls, type TrustedPlace } from '../settings/dataConnections.ts'

/** Oldest server whose scripts and answers are known here. */
const MIN_VERSION = 7
/** Time for a connection and for what is asked on it first. */
const HANDSHAKE_MS = 1_500
/** Pause between two looks at a server that owes an answer. */
const LOOK_MS = 50
/** Looks in a row without any answer after which a connection is given up, so after about 300 ms. */
const SILENT_LOOKS = 6
/** Pause between two pings of a server of which nothing else is asked. */
const PING_MS = 500
/** Longest pause between two attempts to connect. */
const MAX_PAUSE_MS = 1_000
/** Life of the key that shows that keys can be written. */
const PROBE_LIFE_MS = 1_000
const PROBE_KEY = 'bezel:probe'
/** Problem of a server that is silent. */
const SILENT = 'it does not answer'

/** Thrown when Redis did not answer, or refused. A command that failed this way may have been carried out. */
export class RedisUnavailableError extends Error {
  override readonly name = 'RedisUnavailableError'
}

/** Thrown for a server that can't be used as it is set up. The message says what to change. */
class RedisUnfitError extends RedisUnavailableError {}

/** A script that the server runs as a whole, by its digest. */
export interface RedisScript {
  readonly text: string
  readonly digest: string
}

export function redisScript(text: string): RedisScript {
  return { text, digest: createHash('sha1').update(text).digest('hex') }
}

/** Requests to Redis since the start, for metrics. */
export interface RedisCounts {
  readonly requests: number
  /** Commands that failed, and connections that were lost or could not be made at the start. */
  readonly failures: number
}

/**
 * One connection to Redis or Valkey that is made again whenever it ends. A server that hangs is noticed by its silence.
 * Nothing is queued while there is no connection.
 */
export interface RedisLink {
  /**
   * Returns the id of the server's present run; `undefined` while it can't be used. A connection never outlives a run,
   * so what a command finds was written in this run, or loaded from a file when it began.
   */
  run(): string | undefined
  /** Returns the reason why the server can't be used, in words; `undefined` while it can. */
  problem(): string | undefined
  /** Returns the time for which the server can't be used; 0 while it can. */
  downMs(): number
  /** Sends a command. Throws a `RedisUnavailableError`. */
  send(...command: readonly string[]): Promise<unknown>
  /** Runs a script without declared keys. Throws a `RedisUnavailableError`. */
  evaluate(script: RedisScript, args: readonly string[]): Promise<unknown>
  counts(): RedisCounts
  close(): Promise<void>
}

/** The facts about a server that decide whether it can be used. */
export interface RedisServer {
  readonly run: string
  readonly version: string
}

type Client = ReturnType<typeof newClient>

/** The address of a server that may be used, and the TLS of its connections. */
interface Target {
  readonly url: string
  readonly tls: RedisTls
}

function newClient({ url, tls }: Target) {
  return createClient({
    url,
    RESP: 2,
    name: 'bezel',
    disableOfflineQueue: true,
    disableClientInfo: true,
    maintNotifications: 'disabled',
    socket: { ...tls, connectTimeout: HANDSHAKE_MS, reconnectStrategy: false },
  })
}

/** Told of changes of a link. */
interface LinkWatch {
  readonly onDown?: (problem: string) => void
  readonly onUp?: () => void
}

/**
 * Opens the link. A server that can't be reached is waited for in the background, because nothing that must be right
 * depends on it. Throws a `StartupError` for an address or a server that has to be corrected.
 */
export async function openRedisLink(place: TrustedPlace, watch: LinkWatch = {}): Promise<RedisLink> {
  const target = targetOf(place)
  let requests = 0
  let failures = 0
  const connection = await openConnection(target, {
    ...watch,
    onDown(problem) {
      failures += 1
      watch.onDown?.(problem)
    },
  })

  async function ask(command: readonly string[]): Promise<unknown> {
    requests += 1
    try {
      return await connection.send(command)
    } catch (error) {
      if (!isMissingScript(error)) failures += 1
      throw error
    }
  }

  const pings = every(PING_MS, async () => {
    if (connection.run() !== undefined) await ask(['PING']).catch(() => undefined)
  })
  return {
    run: connection.run,
    problem: connection.problem,
    downMs: connection.downMs,
    send: (...command) => ask(command),
    async evaluate({ text, digest }, args) {
      try {
        return await ask(['EVALSHA', digest, '0', ...args])
      } catch (error) {
        if (!isMissingScript(error)) throw error
        return await ask(['EVAL', text, '0', ...args])
      }
    },
    counts: () => ({ requests, failures }),
    async close() {
      connection.close()
      await pings.close()
    },
  }
}

/** A connection that is made again whenever it ends. */
interface Connection extends Pick<RedisLink, 'run' | 'problem' | 'downMs'> {
  /** Throws a `RedisUnavailableError`, or that of a script which the server does not have. */
  send(command: readonly string[]): Promise<unknown>
  close(): void
}

async function openConnection(target: Target, { onDown, onUp }: LinkWatch): Promise<Connection> {
  let current: { readonly client: Client; readonly run: string } | undefined
  let problem: string | undefined
  let downSinceMs = performance.now()
  let isClosed = false
  let retry: NodeJS.Timeout | undefined
  const silence = createSilence((client) => lose(client, SILENT))

  async function connect(): Promise<void> {
    const client = newClient(target)
    client.on('error', (error: Error) => lose(client, error.message))
    try {
      const { run } = await within(HANDSHAKE_MS, greet(client))
      if (isClosed) return end(client)
      current = { client, run }
      problem = undefined
      onUp?.()
    } catch (error) {
      end(client)
      problem = (error as Error).message
      throw error
    }
  }

  function lose(client: Client, reason: string): void {
    if (current?.client !== client) return
    current = undefined
    downSinceMs = performance.now()
    problem = reason
    silence.forget()
    end(client)
    onDown?.(reason)
    connectLater(0)
  }

  function connectLater(attempt: number): void {
    if (isClosed) return
    const pauseMs = attempt === 0 ? 0 : backoffMs(attempt - 1, Math.random(), MAX_PAUSE_MS)
    retry = setTimeout(() => connect().catch(() => connectLater(attempt + 1)), pauseMs).unref()
  }

  await connect().catch((error: Error) => {
    if (error instanceof RedisUnfitError) throw new StartupError(error.message)
    onDown?.(error.message)
    connectLater(1)
  })
  return {
    run: () => current?.run,
    problem: () => problem,
    downMs: () => (current === undefined ? performance.now() - downSinceMs : 0),
    async send(command) {
      const client = current?.client
      if (client === undefined) throw new RedisUnavailableError(`Redis can't be used: ${problem ?? 'it is closed'}`)
      try {
        return await silence.whileAsked(client, client.sendCommand([...command]))
      } catch (error) {
        if (isMissingScript(error)) throw error
        // A server that refuses what was proven to work at the connection is not the one it was.
        lose(client, (error as Error).message)
        throw new RedisUnavailableError((error as Error).message, { cause: error })
      }
    },
    close() {
      isClosed = true
      clearTimeout(retry)
      silence.forget()
      if (current !== undefined) end(current.client)
      current = undefined
    },
  }
}

/** Looks at a server once, for `bezel-server check`. Throws a `StartupError` when it can't be used or reached. */
export async function inspectRedis(place: TrustedPlace): Promise<RedisServer & { readonly timeMs: number }> {
  const client = newClient(targetOf(place))
  client.on('error', () => undefined)
  try {
    return await within(
      HANDSHAKE_MS,
      greet(client).then(async (server) => {
        const [seconds, micros] = (await client.sendCommand(['TIME'])) as unknown as [string, string]
        return { ...server, timeMs: Number(seconds) * 1_000 + Number(micros) / 1_000 }
      }),
    )
  } catch (error) {
    if (error instanceof RedisUnfitError) throw new StartupError(error.message)
    throw new StartupError(
      `The Redis of REDIS_URL can't be reached (${(error as Error).message}): start it, or correct REDIS_URL.`,
    )
  } finally {
    end(client)
  }
}

/** Throws a `StartupError` for an address that must not be used as it is. */
function targetOf(place: TrustedPlace): Target {
  refuseNoAddress(place.url)
  return { url: place.url, tls: redisTlsOf(place) }
}

/** Throws a `StartupError` for a text that is no address. It may hold a password, so it is not repeated. */
function refuseNoAddress(url: string): void {
  const parsed = URL.parse(url)
  if (
    parsed !== null &&
    /^rediss?:$/.test(parsed.protocol) &&
    parsed.hostname !== '' &&
    /^\/?\d*$/.test(parsed.pathname) &&
    isEncoded(parsed.username + parsed.password)
  )
    return
  throw new StartupError(
    'REDIS_URL is no address of a Redis server: write redis://user:password@host:6379/0, with rediss: for TLS.',
  )
}

function isEncoded(text: string): boolean {
  try {
    return decodeURIComponent(text) !== undefined
  } catch {
    return false
  }
}

/** Connects, and finds out who answers. Throws a `RedisUnfitError` for a server that has to be set up otherwise. */
async function greet(client: Client): Promise<RedisServer> {
  try {
    await client.connect()
    const info = parseInfo(String(await client.sendCommand(['INFO'])))
    refuseUnfit(info)
    // A replica, a full server and one whose disk failed refuse to write.
    await client.sendCommand(['SET', PROBE_KEY, '1', 'PX', String(PROBE_LIFE_MS)])
    return { run: info.get('run_id') ?? '', version: info.get('redis_version') ?? '' }
  } catch (error) {
    const untrusted = certificateProblem(error)
    if (untrusted !== undefined) {
      throw new RedisUnfitError(
        `The certificate of the Redis of REDIS_URL is not the one of that server (${untrusted}): correct the host in REDIS_URL, or name the authority that signed it by BEZEL_REDIS_CA_FILE.`,
      )
    }
    if (!(error instanceof ErrorReply)) throw error
    if (/^(?:WRONGPASS|NOAUTH|ERR (?:AUTH|invalid password|invalid username))/i.test(error.message)) {
      throw new RedisUnfitError('The Redis of REDIS_URL refuses user and password: correct them in REDIS_URL.')
    }
    if (error.message.startsWith('NOPERM')) {
      throw new RedisUnfitError(
        'The user of REDIS_URL may not do enough: give it all keys and channels that start with bezel: and the commands INFO, TIME, PING, GET, SET, INCRBY, PEXPIRE, EVAL, EVALSHA, PUBLISH and SUBSCRIBE.',
      )
    }
    throw error
  }
}

/** Parses the lines `name:value` of INFO. */
function parseInfo(text: string): ReadonlyMap<string, string> {
  const lines = text.split('\r\n').map((line) => line.split(':'))
  return new Map(lines.map(([name = '', ...rest]) => [name, rest.join(':')]))
}

function refuseUnfit(info: ReadonlyMap<string, string>): void {
  const version = info.get('redis_version') ?? ''
  if (!(Number.parseInt(version, 10) >= MIN_VERSION)) {
    throw new RedisUnfitError(
      `The Redis of REDIS_URL is version ${version}: use Redis ${MIN_VERSION} or newer, or Valkey.`,
    )
  }
  const policy = info.get('maxmemory_policy') ?? 'noeviction'
  if (Number(info.get('maxmemory') ?? 0) > 0 && policy !== 'noeviction') {
    throw new RedisUnfitError(
      `The Redis of REDIS_URL drops keys when its memory is full (maxmemory-policy ${policy}), and would forget used nonces: set maxmemory-policy to noeviction.`,
    )
  }
}

function isMissingScript(error: unknown): boolean {
  return error instanceof ErrorReply && error.message.startsWith('NOSCRIPT')
}

function end(client: Client): void {
  if (client.isOpen) client.destroy()
}

async function within<Result>(ms: number, work: Promise<Result>): Promise<Result> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new RedisUnavailableError(SILENT)), ms)
  work.catch(() => undefined)
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}

/** Judges whether the server still answers, as long as it owes an answer. */
interface Silence {
  whileAsked<Result>(client: Client, answer: Promise<Result>): Promise<Result>
  forget(): void
}

/**
 * Creates the judge, which counts looks instead of time: a process that was itself held up looks late, and must not
 * take its own delay for the server's.
 */
function createSilence(onSilent: (client: Client) => void): Silence {
  let outstanding = 0
  let silentLooks = 0
  let asked: Client | undefined
  let looks: NodeJS.Timeout | undefined

  function forget(): void {
    clearInterval(looks)
    looks = undefined
    silentLooks = 0
  }

  function look(): void {
    if (looks === undefined) return
    if (outstanding === 0) return forget()
    silentLooks += 1
    if (silentLooks > SILENT_LOOKS && asked !== undefined) onSilent(asked)
  }

  return {
    async whileAsked(client, answer) {
      asked = client
      outstanding += 1
      // What has arrived while this process was busy is read before it is judged.
      looks ??= setInterval(() => setImmediate(look), LOOK_MS).unref()
      try {
        return await answer
      } finally {
        outstanding -= 1
        silentLooks = 0
      }
    },
    forget,
  }
}
