import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

/** A proxy in front of PostgreSQL that counts round trips. */
export interface TripCounter {
  readonly port: number
  /** Round trips so far. */
  trips(): number
  close(): Promise<void>
}

/** One direction of a connection, cut into messages of PostgreSQL's protocol. */
interface Messages {
  /** Returns the types of the messages that are complete with this chunk. */
  add(chunk: Buffer): string[]
}

/** Type that stands for the first message of a connection, which has none. */
const STARTUP = 'startup'
/** Messages that the server answers by saying that it is ready: the start, a script, the end of a statement. */
const ASKED: ReadonlySet<string> = new Set([STARTUP, 'Q', 'S'])
const READY = 'Z'
/** Bytes of a message's length, which counts itself and not the type before it. */
const LENGTH_BYTES = 4

function createMessages(hasStartup: boolean): Messages {
  let rest = Buffer.alloc(0)
  let isFirst = hasStartup
  return {
    add(chunk) {
      const types: string[] = []
      rest = Buffer.concat([rest, chunk])
      for (;;) {
        const head = isFirst ? 0 : 1
        if (rest.length < head + LENGTH_BYTES) return types
        const size = head + rest.readInt32BE(head)
        if (rest.length < size) return types
        types.push(isFirst ? STARTUP : String.fromCharCode(rest[0]!))
        rest = rest.subarray(size)
        isFirst = false
      }
    },
  }
}

/**
 * Starts a proxy in front of a PostgreSQL server that holds all answers back until the server has answered everything
 * that was asked on any connection, and then lets them through at once. So whatever waits for an answer is asked after
 * that, and the number of times is the number of round trips that somebody waited for.
 */
export async function startTripCounter(targetPort: number): Promise<TripCounter> {
  const pairs = new Set<readonly Socket[]>()
  let held: { readonly client: Socket; readonly chunk: Buffer }[] = []
  let outstanding = 0
  let trips = 0

  function release(): void {
    if (outstanding > 0 || held.length === 0) return
    trips += 1
    const answers = held
    held = []
    for (const { client, chunk } of answers) client.write(chunk)
  }

  const server = createServer((client) => {
    client.setNoDelay(true)
    const upstream = connect({ host: '127.0.0.1', port: targetPort, noDelay: true })
    const pair = [client, upstream]
    pairs.add(pair)
    const asked = createMessages(true)
    const answered = createMessages(false)
    client.on('data', (chunk) => {
      outstanding += asked.add(chunk).filter((type) => ASKED.has(type)).length
      upstream.write(chunk)
    })
    upstream.on('data', (chunk) => {
      outstanding -= answered.add(chunk).filter((type) => type === READY).length
      held.push({ client, chunk })
      // What other connections asked in the same turn is read before this one's answer is let through.
      setImmediate(release)
    })
    client.on('close', () => upstream.destroy())
    upstream.on('close', () => {
      client.destroy()
      pairs.delete(pair)
    })
    for (const socket of pair) socket.on('error', () => undefined)
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  return {
    port: (server.address() as AddressInfo).port,
    trips: () => trips,
    close: () =>
      new Promise((closed) => {
        server.close(() => closed())
        for (const pair of pairs) for (const socket of pair) socket.destroy()
      }),
  }
}
