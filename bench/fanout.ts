import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { textFrame } from '../packages/server/src/stream/socket/frames.ts'
import type { Arrival, ClientOrder } from './fanout/client.ts'
import { startFanoutServer, type FanoutServer } from './fanout/server.ts'
import { median, percentile } from './measure/median.ts'

// Benchmarks the WebSockets of the service, with a feed that ticks on demand. The clients are another process.
//
// Fan-out. Ours: a tick of 20 markets, from the feed's call until it is written to 1,000 sockets. Peer: a bare loop
// that writes one ready frame of the same length to the same sockets. They alternate, so that noise of the machine hits
// both; the medians are compared.
// Memory: added to this process by 2,000 idle sockets. Latency: from the tick to the client's message event, with 100
// sockets.

const IDLE_SOCKETS = 2_000
const MAX_IDLE_BYTES = 30 * 1024
const FANOUT_SOCKETS = 1_000
const FANOUT_ROUNDS = 300
const MIN_FANOUT_RATIO = 0.85
const TIMED_SOCKETS = 100
const TIMED_TICKS = 400
/** Interval of the feed's ticks. */
const TICK_MS = 25
const MAX_P50_MS = 5
const MAX_P99_MS = 25

interface Row {
  readonly name: string
  readonly ours: string
  readonly peer: string
  readonly limit: string
  readonly met: boolean
}

/** Prints the table. Returns true when every limit is met. */
export async function run(): Promise<boolean> {
  const client = fork(new URL('./fanout/client.ts', import.meta.url))
  const server = await startFanoutServer()
  const rows = [
    await measureIdle(server, client),
    await measureFanout(server, client),
    ...(await measureLatency(server, client)),
  ]
  client.kill()
  await server.close()
  console.table(Object.fromEntries(rows.map(({ name, ...row }) => [name, row])))
  return rows.every(({ met }) => met)
}

async function measureIdle(server: FanoutServer, client: ChildProcess): Promise<Row> {
  const plain = { kind: 'open', ...server, sockets: 100, isSubscribed: false, isTimed: false } as const
  // Memory that the first sockets allocate once for all is not counted.
  await open(server, client, plain)
  await closeAll(server, client)
  const before = memoryNow()
  await open(server, client, { ...plain, sockets: IDLE_SOCKETS })
  await sleep(500)
  const after = memoryNow()
  await closeAll(server, client)
  const heapBytes = (after.heapBytes - before.heapBytes) / IDLE_SOCKETS
  const residentBytes = (after.residentBytes - before.residentBytes) / IDLE_SOCKETS
  const bytes = Math.max(heapBytes, residentBytes)
  return {
    name: 'an idle socket',
    ours: `${kilobytes(heapBytes)} of heap and buffers, ${kilobytes(residentBytes)} resident`,
    peer: '-',
    limit: `<= ${kilobytes(MAX_IDLE_BYTES)}`,
    met: bytes <= MAX_IDLE_BYTES,
  }
}

async function measureFanout(server: FanoutServer, client: ChildProcess): Promise<Row> {
  await open(server, client, { sockets: FANOUT_SOCKETS, isSubscribed: true, isTimed: false })
  const frame = textFrame('x'.repeat(deltaLength(server)))
  const ours: number[] = []
  const peer: number[] = []
  const writeAll = (): void => {
    for (const socket of server.sockets) socket.write(frame)
  }
  for (let round = 0; round < FANOUT_ROUNDS; round += 1) {
    // The second one finds the machine as the first left it, so the two alternate in coming first.
    if (round % 2 === 0) ours.push(await inQuiet(server.tick))
    peer.push(await inQuiet(writeAll))
    if (round % 2 === 1) ours.push(await inQuiet(server.tick))
  }
  await closeAll(server, client)
  const ratio = median(peer) / median(ours)
  return {
    name: `a tick to ${FANOUT_SOCKETS} sockets`,
    ours: `${median(ours).toFixed(2)} ms`,
    peer: `${median(peer).toFixed(2)} ms (${ratio.toFixed(2)})`,
    limit: `>= ${MIN_FANOUT_RATIO}`,
    met: ratio >= MIN_FANOUT_RATIO,
  }
}

async function measureLatency(server: FanoutServer, client: ChildProcess): Promise<Row[]> {
  await open(server, client, { sockets: TIMED_SOCKETS, isSubscribed: true, isTimed: true })
  await tell(client, { kind: 'report' })
  const sentAtMs: number[] = []
  for (let tick = 0; tick < TIMED_TICKS; tick += 1) {
    sentAtMs.push(performance.timeOrigin + performance.now())
    server.tick()
    await sleep(TICK_MS)
  }
  await sleep(200)
  const arrivals = (await tell(client, { kind: 'report' })) as readonly Arrival[]
  await closeAll(server, client)
  const firstSeq = arrivals.reduce((least, { seq }) => Math.min(least, seq), Number.POSITIVE_INFINITY)
  const delays = arrivals.map(({ seq, atMs }) => atMs - sentAtMs[seq - firstSeq]!)
  if (delays.length !== TIMED_SOCKETS * TIMED_TICKS) throw new Error(`${delays.length} messages came`)
  return [
    latencyRow('p50', percentile(delays, 0.5), MAX_P50_MS),
    latencyRow('p99', percentile(delays, 0.99), MAX_P99_MS),
  ]
}

function latencyRow(name: string, ms: number, maxMs: number): Row {
  return {
    name: `a tick reaches ${TIMED_SOCKETS} clients, ${name}`,
    ours: `${ms.toFixed(2)} ms`,
    peer: '-',
    limit: `<= ${maxMs} ms`,
    met: ms <= maxMs,
  }
}

/** Times `work`, after earlier messages have been sent and read. */
async function inQuiet(work: () => void): Promise<number> {
  await sleep(10)
  const started = performance.now()
  work()
  return performance.now() - started
}

/** Returns the length of the message that a tick sends, without the frame's header. */
function deltaLength(server: FanoutServer): number {
  const [socket] = server.sockets
  const before = socket!.bytesWritten
  server.tick()
  return socket!.bytesWritten - before - textFrame('').length
}

async function open(
  { port, path, counts }: FanoutServer,
  client: ChildProcess,
  order: { readonly sockets: number; readonly isSubscribed: boolean; readonly isTimed: boolean },
): Promise<void> {
  const { sockets, isSubscribed, isTimed } = order
  await tell(client, { kind: 'open', port, path, sockets, isSubscribed, isTimed })
  const wanted = isSubscribed ? sockets : 0
  while (counts.channels.prices.subscriptions < wanted) await sleep(10)
}

async function closeAll({ counts }: FanoutServer, client: ChildProcess): Promise<void> {
  await tell(client, { kind: 'close' })
  while (counts.sockets > 0) await sleep(10)
}

async function tell(client: ChildProcess, order: ClientOrder): Promise<unknown> {
  client.send(order)
  const [answer] = await once(client, 'message')
  return answer
}

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

function memoryNow(): { readonly heapBytes: number; readonly residentBytes: number } {
  collectGarbage()
  const { heapUsed, external, rss } = process.memoryUsage()
  return { heapBytes: heapUsed + external, residentBytes: rss }
}

function kilobytes(bytes: number): string {
  return `${(bytes / 1024).toFixed(1)} KB`
}
