import type { PointRead, SqlValue } from './sql.ts'

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
