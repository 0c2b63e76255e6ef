import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { WebSocket } from 'ws'

// The clients of bench/resume.ts, in a process of their own: one socket for each key. They connect at once, resume, and
// record which events they got.

/** A job: connect again, and wait for all events of `[fromSeq, untilSeq]`. */
export interface ResumeJob {
  readonly port: number
  readonly path: string
  readonly keys: readonly string[]
  readonly fromSeq: number
  readonly untilSeq: number
}

export interface ResumeResult {
  /** Time from the first connect until the last client had everything. */
  readonly ms: number
  /** The first client that did not get each event exactly once, if any. */
  readonly error: string | undefined
}

const CHANNELS = ['orders', 'fills'] as const
/** Time to wait for events that should not come. */
const QUIET_MS = 300
const GIVE_UP_MS = 60_000
const SEQ_PATTERN = /"seq":(\d+)/

/** One client's socket, and how often it got each event. */
interface Client {
  readonly socket: WebSocket
  readonly times: Uint8Array
  readonly seqs: Record<string, number>
  subscribed: number
  missing: number
  error: string | undefined
}

process.on('message', async (job: ResumeJob) => {
  process.send!(await resume(job))
})

async function resume(job: ResumeJob): Promise<ResumeResult> {
  const started = performance.now()
  let waiting = job.keys.length
  let allDone = (): void => undefined
  const done = new Promise<void>((resolve) => (allDone = resolve))
  const onDone = (): void => {
    waiting -= 1
    if (waiting === 0) allDone()
  }
  const clients = job.keys.map((key) => openClient(job, key, onDone))
  await Promise.race([done, sleep(GIVE_UP_MS, undefined, { ref: false })])
  const ms = performance.now() - started
  await sleep(QUIET_MS)
  const error = waiting > 0 ? `${waiting} clients have not caught up` : clients.map(faultOf).find((fault) => fault)
  await cut(clients)
  return { ms, error }
}

function openClient(job: ResumeJob, key: string, onDone: () => void): Client {
  const { port, path, fromSeq, untilSeq } = job
  const headers = { 'x-service-api-key': key }
  const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`, { perMessageDeflate: false, headers })
  const count = untilSeq - fromSeq + 1
  const client: Client = {
    socket,
    times: new Uint8Array(count),
    seqs: {},
    subscribed: 0,
    missing: count,
    error: undefined,
  }
  socket.on('open', () => {
    for (const channel of CHANNELS) socket.send(JSON.stringify({ op: 'subscribe', channel, fromSeq }))
  })
  socket.on('message', (data) => {
    take(client, String(data), job)
    if (client.missing === 0 && client.subscribed === CHANNELS.length) {
      client.missing = -1
      onDone()
    }
  })
  socket.on('error', (error) => (client.error ??= error.message))
  return client
}

function take(client: Client, text: string, { fromSeq }: ResumeJob): void {
  if (text.startsWith('{"op":"hello"') || text.startsWith('{"op":"authenticated"')) return
  if (text.startsWith('{"op":"subscribed"')) return void (client.subscribed += 1)
  if (text.startsWith('{"op"')) return void (client.error ??= text)
  const seq = Number(SEQ_PATTERN.exec(text)![1])
  const channel = text.slice(0, 20)
  if (seq <= (client.seqs[channel] ?? 0)) client.error ??= `event ${seq} came late or twice`
  client.seqs[channel] = seq
  client.times[seq - fromSeq]! += 1
  client.missing -= 1
}

function faultOf({ error, times }: Client): string | undefined {
  if (error !== undefined) return error
  const at = times.findIndex((count) => count !== 1)
  return at === -1 ? undefined : `event ${at + 1} of those missed came ${times[at]} times`
}

/** Cuts the connections without a closing handshake, as a network failure does. */
async function cut(clients: readonly Client[]): Promise<void> {
  const closed = clients.map(({ socket }) =>
    socket.readyState === WebSocket.CLOSED ? undefined : once(socket, 'close'),
  )
  for (const { socket } of clients) socket.terminate()
  await Promise.all(closed)
}
