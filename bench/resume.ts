import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { median } from './measure/median.ts'
import { timed } from './measure/timed.ts'
import type { ResumeJob, ResumeResult } from './resume/client.ts'
import { EVENTS_PER_ORDER, lifeOf } from './resume/orders.ts'
import { startResumeServer, type ResumeServer } from './resume/server.ts'

// Benchmarks sockets that were cut and all come back at once.
//
// 1,000 traders have a socket each, subscribed to two channels of their log. While they are away 100 events are written
// to each log. They come back at once, in another process, and resume with fromSeq. The time is from the first connect
// until the last socket has everything: connecting, authenticating with its key, both subscriptions. Compared in the
// same run with the same return when nothing was missed, and with only reading the same rows from the store. In the
// last round events are written while the sockets come back.

const SOCKETS = 1_000
const EVENTS = 100
const ROUNDS = 5
/** Orders that each trader gets in the last round, while the sockets come back. */
const LIVE_COMMITS = 4
const NS_PER_MS = 1e6

interface Round {
  readonly resumeMs: number
  readonly returnMs: number
  readonly readMs: number
  /** Longest delay of the event loop during each of the two. */
  readonly resumeHeldUpMs: number
  readonly returnHeldUpMs: number
}

/** Prints the times. Returns true; throws when a client lost an event or got one twice. */
export async function run(): Promise<boolean> {
  const client = fork(new URL('./resume/client.ts', import.meta.url))
  const server = await startResumeServer(SOCKETS)
  const rounds: Round[] = []
  let lastSeq = 0
  // Round 0 only warms up.
  for (let round = 0; round <= ROUNDS; round += 1) {
    await writeOrders(server, lastSeq / EVENTS_PER_ORDER, EVENTS / EVENTS_PER_ORDER)
    const measured = await measure(server, client, lastSeq)
    lastSeq += EVENTS
    if (round > 0) rounds.push(measured)
  }
  await resumeWhileWritten(server, client, lastSeq)
  client.kill()
  await server.close()
  print(rounds)
  return true
}

/** Writes `count` more orders of every trader. Each commit holds one state of all traders' orders. */
async function writeOrders({ traders, tell }: ResumeServer, first: number, count: number): Promise<void> {
  for (let n = first; n < first + count; n += 1) {
    const lives = traders.map((trader) => lifeOf(trader, n))
    for (const at of lives[0]!.keys()) await tell(lives.map((life) => life[at]!))
  }
}

async function measure(server: ResumeServer, client: ChildProcess, lastSeq: number): Promise<Round> {
  const untilSeq = lastSeq + EVENTS
  const readMs = await timed(() => readAll(server, lastSeq))
  const resumed = await watched(() => resume(server, client, lastSeq + 1, untilSeq))
  const returned = await watched(() => resume(server, client, untilSeq + 1, untilSeq))
  return {
    readMs,
    resumeMs: resumed.ms,
    returnMs: returned.ms,
    resumeHeldUpMs: resumed.heldUpMs,
    returnHeldUpMs: returned.heldUpMs,
  }
}

async function watched(work: () => Promise<number>): Promise<{ readonly ms: number; readonly heldUpMs: number }> {
  const delay = monitorEventLoopDelay({ resolution: 1 })
  delay.enable()
  const ms = await work()
  delay.disable()
  return { ms, heldUpMs: delay.max / NS_PER_MS }
}

async function readAll({ log, traders }: ResumeServer, after: number): Promise<void> {
  for (const trader of traders) {
    const events = await log.read(trader, { after, limit: EVENTS })
    if (events.length !== EVENTS) throw new Error(`${events.length} events are in the store`)
  }
}

async function resume(server: ResumeServer, client: ChildProcess, fromSeq: number, untilSeq: number): Promise<number> {
  const { port, path, keys } = server
  client.send({ port, path, keys, fromSeq, untilSeq } satisfies ResumeJob)
  const [{ ms, error }] = (await once(client, 'message')) as [ResumeResult]
  if (error !== undefined) throw new Error(error)
  return ms
}

async function resumeWhileWritten(server: ResumeServer, client: ChildProcess, lastSeq: number): Promise<void> {
  const first = lastSeq / EVENTS_PER_ORDER
  await writeOrders(server, first, EVENTS / EVENTS_PER_ORDER)
  const untilSeq = lastSeq + EVENTS + EVENTS_PER_ORDER * LIVE_COMMITS
  const resumed = resume(server, client, lastSeq + 1, untilSeq)
  await writeOrders(server, first + EVENTS / EVENTS_PER_ORDER, LIVE_COMMITS)
  await resumed
}

function print(rounds: readonly Round[]): void {
  const of = (value: (round: Round) => number): number => median(rounds.map(value))
  const readMs = of((round) => round.readMs)
  const row = (ms: number, heldUpMs: number | undefined) => ({
    ms: Math.round(ms),
    'times a plain read': (ms / readMs).toFixed(1),
    'longest held up, ms': heldUpMs === undefined ? '-' : Math.round(heldUpMs),
  })
  console.log(`${SOCKETS} sockets resume ${EVENTS} events each, none lost or doubled; medians of ${ROUNDS}`)
  console.table({
    'all caught up': row(
      of((round) => round.resumeMs),
      of((round) => round.resumeHeldUpMs),
    ),
    'with nothing missed': row(
      of((round) => round.returnMs),
      of((round) => round.returnHeldUpMs),
    ),
    'plain read of the rows': row(readMs, undefined),
  })
}
