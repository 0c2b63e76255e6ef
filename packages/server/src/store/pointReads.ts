import process from 'node:process'
import type { PointRead, Sql, SqlValue } from './sql.ts'

type KeyType = 'text' | 'bigint'

/** Returns a read by key. `types` are those of the parameters. */
export function pointRead(text: string, ...types: readonly KeyType[]): PointRead {
  const columns = types.map((type, at) => `p${at + 1} ${type}`)
  const ofAsked = text.replaceAll(/\$(\d+)/g, (_, number: string) => `asked.p${number}`)
  return {
    text,
    bulk: `select asked.asked_no, found.* from json_to_recordset($1::json) as asked (asked_no integer, ${columns.join(', ')})
      cross join lateral (${ofAsked}) as found`,
  }
}

/** Keys that wait to be asked for together. */
export interface ReadQueue {
  readonly size: number
  /** Adds a key. Its rows arrive after the queue was taken and `ask` has answered. */
  add<Row>(read: PointRead, params: readonly SqlValue[]): Promise<Row[]>
  /** Asks for everything that waits, and empties the queue. */
  send(ask: (text: string, params: readonly SqlValue[]) => Promise<Row[]>): void
}

type Row = Record<string, unknown>

/** Somebody who waits for the rows of a key. */
interface Asker {
  readonly params: readonly SqlValue[]
  readonly resolve: (rows: Row[]) => void
  readonly reject: (error: unknown) => void
}

export function createReadQueue(): ReadQueue {
  let askers = new Map<PointRead, Asker[]>()
  return {
    get size() {
      return askers.size
    },
    add<Found>(read: PointRead, params: readonly SqlValue[]) {
      const { promise, resolve, reject } = Promise.withResolvers<Row[]>()
      const others = askers.get(read)
      if (others === undefined) askers.set(read, [{ params, resolve, reject }])
      else others.push({ params, resolve, reject })
      return promise as Promise<Found[]>
    },
    send(ask) {
      const taken = askers
      askers = new Map()
      for (const [read, waiting] of taken) void answer(read, waiting, ask)
    },
  }
}

/**
 * Returns a connection whose reads by key are sent together, all that are asked for until nothing else can go on
 * without an answer. For many reads outside of a transaction.
 */
export function batchReads(sql: Sql): Sql {
  if (sql.engine === 'sqlite') return sql
  const queue = createReadQueue()
  const send = (): void => queue.send((text, params) => sql.all(text, ...params))
  async function all<Found>(read: string | PointRead, ...params: readonly SqlValue[]): Promise<Found[]> {
    if (typeof read === 'string') return sql.all<Found>(read, ...params)
    if (queue.size === 0) process.nextTick(send)
    return queue.add<Found>(read, params)
  }
  return {
    ...sql,
    all,
    get: async <Found>(read: string | PointRead, ...params: readonly SqlValue[]) =>
      (await all<Found>(read, ...params))[0],
  }
}

async function answer(
  { text, bulk }: PointRead,
  waiting: readonly Asker[],
  ask: (text: string, params: readonly SqlValue[]) => Promise<Row[]>,
): Promise<void> {
  const [first] = waiting
  try {
    if (waiting.length === 1) return first!.resolve(await ask(text, first!.params))
    const rows = await ask(bulk, [toJson(waiting)])
    const byAsker = Map.groupBy(rows, ({ asked_no }) => Number(asked_no))
    for (const [at, { resolve }] of waiting.entries()) resolve(byAsker.get(at) ?? [])
  } catch (error) {
    for (const { reject } of waiting) reject(error)
  }
}

function toJson(waiting: readonly Asker[]): string {
  const keys = waiting.map(({ params }, at) => ({
    asked_no: at,
    ...Object.fromEntries(params.map((value, i) => [`p${i + 1}`, typeof value === 'bigint' ? String(value) : value])),
  }))
  return JSON.stringify(keys)
}
