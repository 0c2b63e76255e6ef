import { createHash, randomBytes } from 'node:crypto'
import { Socket } from 'node:net'
import { performance } from 'node:perf_hooks'
import { Client, DatabaseError, type QueryResult } from 'pg'
import { StoreUnavailableError } from '../ground/unavailable.ts'
import type { PostgresTarget } from '../settings/dataConnections.ts'
import { POSTGRES_BOUNDS } from './postgresBounds.ts'
import type { SqlValue } from './sql.ts'

const { silenceMs: SILENCE_MS, connectMs: CONNECT_MS, lookMs: LOOK_MS } = POSTGRES_BOUNDS
/** Maximum number of statements that a connection keeps prepared; more than the texts in the store modules. */
const MAX_PREPARED_STATEMENTS = 1_000
/** PostgreSQL's numbers of the types that hold whole numbers: int8, int2, int4 and numeric, which sums are. */
const WHOLE_NUMBER_TYPES: ReadonlySet<number> = new Set([20, 21, 23, 1700])
/** PostgreSQL's number of the type of comparisons, which are 0 and 1 in SQLite. */
const BOOLEAN_TYPE = 16
/** PostgreSQL's number of the type of binary fractions. */
const DOUBLE_TYPE = 701
/**
 * Classes of PostgreSQL's error codes for temporary or external faults, not wrong statements: connection, resources,
 * operator's intervention, system.
 */
const UNAVAILABLE_CLASSES: ReadonlySet<string> = new Set(['08', '53', '57', '58'])
/** Further such codes: idle in a transaction for too long, a standby that only reads, a lock that was not to be had. */
const UNAVAILABLE_CODES: ReadonlySet<string> = new Set(['25P03', '25006', '55P03'])

/** A connection that is in use. Statements are sent at once, also while others are not answered yet. */
export interface PostgresConnection {
  /** The name of its session on the server, which no other has. */
  readonly name: string
  /** Runs one statement, prepared under a name that belongs to its text. */
  query<Row>(text: string, params: readonly SqlValue[]): Promise<QueryResult<Row & object>>
  /** Runs statements without parameters that are separated by semicolons. Returns the last one's result. */
  script(text: string): Promise<QueryResult<Record<string, unknown>>>
  /** True while statements may take as long as they need, as those of a migration. */
  isPatient: boolean
}

export interface PostgresConnections {
  /** Waits for a free connection. Throws a `StoreUnavailableError` when the server can't be reached or is silent. */
  acquire(): Promise<PostgresConnection>
  /** Gives a connection back that has nothing under way. */
  release(connection: PostgresConnection): void
  /** Closes a connection in an unknown state. */
  drop(connection: PostgresConnection): void
  /** Waits for `waiting`. Throws a `StoreUnavailableError` when the server falls silent meanwhile. */
  whileAnswering<Result>(waiting: Promise<Result>): Promise<Result>
  close(): Promise<void>
}

interface Member extends PostgresConnection {
  readonly client: Client
  /** Returns the time since the last byte, for a connection that owes an answer; 0 for others. */
  silentMs(nowMs: number): number
  readonly owesAnswer: () => boolean
  cut(): void
}

/** Somebody who waits while the server may be silent. */
interface Wait {
  readonly sinceMs: number
  readonly giveUp: () => void
}

/**
 * Keeps up to `size` connections to a server. One that says nothing although it should is cut, so nobody waits for a
 * server that hangs.
 */
export function createPostgresConnections({
  target,
  size,
}: {
  readonly target: PostgresTarget
  readonly size: number
}): PostgresConnections {
  const members = new Set<Member>()
  const idle: Member[] = []
  const queue: (() => void)[] = []
  const connectsMs = new Set<{ readonly sinceMs: number }>()
  let isClosed = false
  const silence = createSilence({ members, idle, connectsMs, remove })
  const { watch, whileAnswering } = silence

  function remove(member: Member): void {
    if (!members.delete(member)) return
    const at = idle.indexOf(member)
    if (at >= 0) idle.splice(at, 1)
    member.cut()
    queue.shift()?.()
  }

  async function connect(): Promise<Member> {
    const attempt = { sinceMs: performance.now() }
    connectsMs.add(attempt)
    watch()
    try {
      const member = await openMember(target, { onSent: watch, onEnd: remove })
      members.add(member)
      silence.isUnreachable = false
      if (isClosed) remove(member)
      return member
    } catch (error) {
      silence.isUnreachable = true
      queue.shift()?.()
      throw new StoreUnavailableError(`PostgreSQL can't be reached: ${(error as Error).message}`, { cause: error })
    } finally {
      connectsMs.delete(attempt)
    }
  }

  async function acquire(): Promise<Member> {
    for (;;) {
      if (isClosed) throw new StoreUnavailableError('the store is closed')
      const free = idle.pop()
      if (free !== undefined) return free
      if (members.size + connectsMs.size < size) return connect()
      await waitInLine(queue, whileAnswering)
    }
  }

  return {
    acquire,
    release(connection) {
      const member = connection as Member
      if (!members.has(member)) return
      member.isPatient = false
      if (isClosed || member.owesAnswer()) return remove(member)
      idle.push(member)
      queue.shift()?.()
    },
    drop: (connection) => remove(connection as Member),
    whileAnswering,
    async close() {
      isClosed = true
      for (const resolve of queue.splice(0)) resolve()
      const goodbyes = idle.map(({ client }) => client.end().catch(() => undefined))
      await Promise.race([Promise.all(goodbyes), new Promise((over) => setTimeout(over, SILENCE_MS).unref())])
      silence.close()
      for (const member of members) remove(member)
    },
  }
}

/** Waits until the first in line is called. One who gives up leaves the line, or passes a late turn on. */
async function waitInLine(queue: (() => void)[], whileAnswering: Silence['whileAnswering']): Promise<void> {
  const { promise: turn, resolve } = Promise.withResolvers<void>()
  queue.push(resolve)
  try {
    await whileAnswering(turn)
  } catch (error) {
    const at = queue.indexOf(resolve)
    if (at >= 0) queue.splice(at, 1)
    else queue.shift()?.()
    throw error
  }
}

/** Judges whether the server still answers. */
interface Silence {
  /** True from a connection that could not be made until one that could. */
  isUnreachable: boolean
  /** Looks at silent connections as long as somebody waits. */
  watch(): void
  whileAnswering<Result>(waiting: Promise<Result>): Promise<Result>
  close(): void
}

function createSilence(of: {
  readonly members: ReadonlySet<Member>
  readonly idle: readonly Member[]
  readonly connectsMs: ReadonlySet<{ readonly sinceMs: number }>
  readonly remove: (member: Member) => void
}): Silence {
  const waits = new Set<Wait>()
  let looks: NodeJS.Timeout | undefined

  function look(nowMs: number): void {
    const silencesMs = [...of.connectsMs].map(({ sinceMs }) => nowMs - sinceMs)
    for (const member of of.members) {
      const silentMs = member.silentMs(nowMs)
      silencesMs.push(silentMs)
      if (silentMs < SILENCE_MS) continue
      of.remove(member)
      // Idle ones are of the same age, and each would be found dead by somebody who has to wait for it.
      for (const other of of.idle.toReversed()) of.remove(other)
    }
    if (!silence.isUnreachable && silencesMs.every((silentMs) => silentMs < CONNECT_MS)) return
    for (const { sinceMs, giveUp } of waits) if (nowMs - sinceMs >= CONNECT_MS) giveUp()
  }

  const silence: Silence = {
    isUnreachable: false,
    watch() {
      looks ??= setInterval(() => {
        // What has arrived while this process was busy is read before it is judged.
        setImmediate(() => {
          look(performance.now())
          if (waits.size > 0 || of.connectsMs.size > 0) return
          if ([...of.members].some(({ owesAnswer }) => owesAnswer())) return
          silence.close()
        })
      }, LOOK_MS)
    },
    whileAnswering(waiting) {
      return new Promise((resolve, reject) => {
        const giveUp = (): void => {
          waits.delete(wait)
          reject(new StoreUnavailableError('PostgreSQL does not answer'))
        }
        const wait = { sinceMs: performance.now(), giveUp }
        waits.add(wait)
        silence.watch()
        waiting.then(resolve, reject).finally(() => waits.delete(wait))
      })
    },
    close() {
      clearInterval(looks)
      looks = undefined
    },
  }
  return silence
}

/** Connects to the server. `onEnd` is told once when the connection ends, whoever ends it. */
async function openMember(
  { url, ssl }: PostgresTarget,
  told: { readonly onSent: () => void; readonly onEnd: (member: Member) => void },
): Promise<Member> {
  const socket = new Socket()
  const { name, connectionString } = nameSession(url)
  const client = new Client({
    connectionString,
    ssl,
    pipeline: true,
    stream: () => socket,
    keepAlive: true,
    connectionTimeoutMillis: CONNECT_MS,
    types: { getTypeParser: (type: number) => PARSERS.get(type) ?? asText },
  })
  let outstanding = 0
  let heardAtMs = 0
  let heardBytes = 0

  async function send<Result>(query: () => Promise<Result>): Promise<Result> {
    if (outstanding++ === 0) heardAtMs = performance.now()
    told.onSent()
    try {
      return await query()
    } catch (error) {
      throw storeErrorOf(error)
    } finally {
      outstanding -= 1
    }
  }

  const member: Member = {
    client,
    name,
    isPatient: false,
    query: (text, params) => send(() => client.query({ ...nameOf(text), text, values: [...params] })),
    script: (text) => send(async () => [await client.query(text)].flat().at(-1)!),
    owesAnswer: () => outstanding > 0,
    silentMs(nowMs) {
      if (outstanding === 0 || member.isPatient) return 0
      if (socket.bytesRead !== heardBytes) heardAtMs = nowMs
      heardBytes = socket.bytesRead
      return nowMs - heardAtMs
    },
    cut: () => socket.destroy(),
  }
  client.on('error', () => told.onEnd(member))
  client.on('end', () => told.onEnd(member))
  try {
    await client.connect()
  } catch (error) {
    socket.destroy()
    throw error
  }
  return member
}

/** Greatest length of the part of a session's name that is the same for all: PostgreSQL keeps 63 bytes of a name. */
const MAX_SHARED_NAME = 40

/** Gives a session a name of its own: that in the address or ours, and a random part. */
function nameSession(url: string): { readonly name: string; readonly connectionString: string } {
  const target = new URL(url)
  const shared = (target.searchParams.get('application_name') ?? 'bezel').slice(0, MAX_SHARED_NAME)
  const name = `${shared} ${randomBytes(8).toString('hex')}`
  target.searchParams.set('application_name', name)
  return { name, connectionString: target.href }
}

const asText = (text: string): string => text

const PARSERS: ReadonlyMap<number, (text: string) => unknown> = new Map<number, (text: string) => unknown>([
  ...[...WHOLE_NUMBER_TYPES].map((type) => [type, BigInt] as const),
  [BOOLEAN_TYPE, (text: string) => (text === 't' ? 1n : 0n)] as const,
  [DOUBLE_TYPE, Number] as const,
])

const names = new Map<string, { readonly name: string }>()
/** Number of times that all statements were prepared again. */
let generation = 0

/**
 * Returns the name under which a statement is prepared. It follows from the text, so that two processes behind one
 * pooler mean the same by it.
 */
function nameOf(text: string): { readonly name?: string } {
  const known = names.get(text)
  if (known !== undefined) return known
  if (names.size >= MAX_PREPARED_STATEMENTS) return {}
  const made = { name: createHash('sha256').update(`${generation} ${text}`).digest('base64url').slice(0, 22) }
  names.set(text, made)
  return made
}

/** Prepares all statements under new names, because PostgreSQL refuses a stale one for as long as its session lasts. */
function prepareAgain(): void {
  generation += 1
  names.clear()
}

/** Code of a prepared statement whose table was changed by a migration since. */
const STALE_PLAN_CODE = '0A000'

/** Returns true for the error of a statement that was prepared before its table got another shape. */
export function isStalePlan(error: unknown): boolean {
  return error instanceof DatabaseError && error.code === STALE_PLAN_CODE && /cached plan/.test(error.message)
}

/** Returns the error to throw for what the driver threw: unavailable when the cause is outside, else as it is. */
function storeErrorOf(error: unknown): unknown {
  if (isStalePlan(error)) prepareAgain()
  if (error instanceof SyntaxError || error instanceof TypeError) return error
  const isOutside = !(error instanceof DatabaseError) || isUnavailable(error.code ?? '')
  return isOutside ? new StoreUnavailableError((error as Error).message, { cause: error }) : error
}

function isUnavailable(code: string): boolean {
  return UNAVAILABLE_CLASSES.has(code.slice(0, 2)) || UNAVAILABLE_CODES.has(code)
}
