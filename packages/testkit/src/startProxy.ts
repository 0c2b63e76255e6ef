import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

/**
 * The way a proxy passes bytes on: at once, not at all until it changes (nor that a side has closed), or by accepting
 * connections that nobody answers.
 */
type Passing = 'open' | 'hung' | 'unanswered'

/** A TCP proxy on 127.0.0.1 that can fail as networks do. */
export interface TcpProxy {
  readonly port: number
  /** Time by which every chunk is late, in each direction. */
  delayMs: number
  /**
   * Stops passing anything on. Connections stay open, and bytes that come meanwhile are passed on after `resume`.
   */
  hang(): void
  /** Goes on after `hang` or `ignoreNew`. */
  resume(): void
  /** Accepts new connections from now on without passing them on; the ones that are open go on. */
  ignoreNew(): void
  /**
   * Loses the answer to the commit of the next transaction whose statements contain `marker`: it reaches the server,
   * and nothing comes back on that connection any more. Resolves when it was passed on.
   */
  loseCommit(marker: string): Promise<void>
  /**
   * Loses the path of the next connection over which `text` comes: that reaches the server, and nothing after it in
   * either direction, the end of the connection neither. Resolves when it was passed on.
   */
  loseAnswer(text: string): Promise<void>
  /** Cuts all connections that are open. */
  cut(): void
  /** Returns the number of connections that are open. */
  openConnections(): number
  close(): Promise<void>
}

/** Starts a proxy in front of a port of this machine. */
export async function startProxy(targetPort: number): Promise<TcpProxy> {
  const state: { passing: Passing } = { passing: 'open' }
  const pairs = new Set<readonly Socket[]>()
  const losses = createLosses()
  let waiting: (() => void)[] = []

  async function pass(before: Promise<void>, due: Promise<void> | undefined, step: () => void): Promise<void> {
    await before
    await due
    while (state.passing === 'hung') await new Promise<void>((resume) => waiting.push(resume))
    step()
  }

  /** Runs a step after the delay, and not while the proxy hangs. The steps of one direction stay in order. */
  const createLine = (): ((step: () => void) => void) => {
    let last = Promise.resolve()
    return (step) => {
      const due = proxy.delayMs === 0 ? undefined : after(proxy.delayMs)
      last = pass(last, due, step)
    }
  }

  const server = createServer((client) => {
    client.setNoDelay(true)
    client.on('error', () => undefined)
    if (state.passing !== 'open') {
      const alone = [client]
      pairs.add(alone)
      client.on('close', () => pairs.delete(alone))
      client.resume()
      return
    }
    const upstream = connect({ host: '127.0.0.1', port: targetPort, noDelay: true })
    const pair = [client, upstream]
    pairs.add(pair)
    const inLine = createLine()
    const toServer = createLine()
    join(client, upstream, (step) => void (losses.isLost(pair) || toServer(step)))
    join(upstream, client, (step) => void (losses.isLost(pair) || inLine(step)))
    client.on('data', (chunk) => losses.hear(pair, chunk))
    upstream.on('close', () => pairs.delete(pair))
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))

  const goOn = (): void => {
    const resumed = waiting
    waiting = []
    for (const resume of resumed) resume()
  }
  const proxy: TcpProxy = {
    port: (server.address() as AddressInfo).port,
    delayMs: 0,
    hang: () => void (state.passing = 'hung'),
    ignoreNew: () => void (state.passing = 'unanswered'),
    resume() {
      state.passing = 'open'
      goOn()
    },
    loseCommit: (marker) => losses.expect(marker, COMMIT),
    loseAnswer: (text) => losses.expect(text, text),
    cut: () => pairs.forEach((pair) => pair.forEach((socket) => socket.destroy())),
    openConnections: () => pairs.size,
    close: () =>
      new Promise((closed) => {
        server.close(() => closed())
        proxy.resume()
        proxy.cut()
      }),
  }
  return proxy
}

/** The message that commits, in the protocol of PostgreSQL: its type, its length and its text. */
const COMMIT = 'Q\0\0\0\x0bcommit\0'

/** The connections whose path is lost. */
interface Losses {
  /** Loses the path of the next one that says `marker`, once it says `last` with it or after it. */
  expect(marker: string, last: string): Promise<void>
  /** Hears what the client of a pair of sockets says. */
  hear(pair: readonly Socket[], chunk: Buffer): void
  isLost(pair: readonly Socket[]): boolean
}

function createLosses(): Losses {
  let expected: { readonly marker: string; readonly last: string; readonly lost: () => void } | undefined
  const marked = new WeakSet<readonly Socket[]>()
  const lost = new WeakSet<readonly Socket[]>()
  return {
    expect(marker, last) {
      const { promise, resolve } = Promise.withResolvers<void>()
      expected = { marker, last, lost: resolve }
      return promise
    },
    hear(pair, chunk) {
      if (expected === undefined) return
      if (chunk.includes(expected.marker)) marked.add(pair)
      if (!marked.has(pair) || !chunk.includes(expected.last)) return
      lost.add(pair)
      expected.lost()
      expected = undefined
    },
    isLost: (pair) => lost.has(pair),
  }
}

/** Passes everything that `from` says on to `to`, in order, its end and its fault included. */
function join(from: Socket, to: Socket, inLine: (step: () => void) => void): void {
  from.on('data', (chunk) => inLine(() => void (to.destroyed || to.write(chunk))))
  from.on('error', () => undefined)
  from.on('close', () => inLine(() => void to.destroy()))
  from.on('end', () => inLine(() => void to.end()))
}

/** Waits that long. Timers count whole milliseconds, so the rest is waited for turn by turn. */
async function after(ms: number): Promise<void> {
  const dueMs = performance.now() + ms
  if (ms >= 1) await new Promise((passed) => setTimeout(passed, Math.floor(ms)))
  while (performance.now() < dueMs) await new Promise((next) => setImmediate(next))
}
