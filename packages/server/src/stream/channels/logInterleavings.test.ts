import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { setImmediate as nextTick } from 'node:timers/promises'
import { LOG_CHANNELS, type Address, type LogChannel } from '@bezel/protocol'
import fc from 'fast-check'
import { eventMessage } from '../../journal/readPage.ts'
import { openAppendableLog, testEvent, type AppendableLog } from '../../journal/testing/appendableLog.ts'
import { migrate } from '../../store/openStore.ts'
import { openTestStore, type TestStore } from '../../store/testing/testStore.ts'
import { testChain } from '@bezel/testkit/servedChain.ts'
import { until } from '@bezel/testkit/until.ts'
import { createRecordingConnection, type RecordingConnection } from '../testing/recordingConnection.ts'
import { createLogChannels, type LogChannels } from './logChannels.ts'

// Appends, subscriptions, resumes, slow readers and disconnects in any order and at any moment. Whatever happens, a
// client that resumes from its last event sees each event of its channel once and in order.

const CLIENTS = 4
/** The greatest number of events appended at once: more than a page of the replay and of the shared reader. */
const MOST_EVENTS = 230
/** The number of ticks without a message after which no more are expected, once each client has all of its own. */
const QUIET_TICKS = 60
/** Time after which a message that is not there counts as lost. A busy disk takes its time for a read. */
const TOLD_MS = 20_000

type Step =
  | { readonly kind: 'append'; readonly trader: number; readonly channels: readonly LogChannel[] }
  | { readonly kind: 'subscribe' | 'resume'; readonly client: number; readonly channel: LogChannel }
  | { readonly kind: 'stick' | 'drain' | 'cut'; readonly client: number }
  | { readonly kind: 'wait'; readonly ticks: number }

/** Only two channels, so that most concurrent steps affect each other. */
const channel = fc.constantFrom('orders' as const, 'fills' as const)
const client = fc.nat(CLIENTS - 1)
const appended = fc.oneof(
  { weight: 8, arbitrary: fc.array(channel, { minLength: 1, maxLength: 3 }) },
  { weight: 1, arbitrary: fc.integer({ min: 40, max: MOST_EVENTS }).map((count) => cycleOf(count)) },
)
const anyTrader = fc.constantFrom(0, 0, 0, 1)
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('append' as const), trader: anyTrader, channels: appended }) },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constantFrom('subscribe' as const, 'resume' as const), client, channel }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom('stick' as const, 'drain' as const), client }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('cut' as const), client }) },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('wait' as const), ticks: fc.integer({ min: 1, max: 5 }) }) },
)

/** Delays of the store, in ticks. */
const anyDelays = fc.array(fc.nat(4), { minLength: 1, maxLength: 12 })

function cycleOf(count: number): LogChannel[] {
  return Array.from({ length: count }, (_, at) => LOG_CHANNELS[at % LOG_CHANNELS.length]!)
}

/** The messages that one client has of one channel, over all its sockets. */
interface Held {
  /** Sequence number of the first event that it must receive. */
  readonly from: number
  readonly texts: string[]
}

interface Client {
  readonly trader: Address
  readonly held: Map<LogChannel, Held>
  connection: RecordingConnection
  /** Channels subscribed to on this connection. */
  listening: Set<LogChannel>
}

function traderOf(clients: readonly Client[], n: number): Address {
  return clients[n === 0 ? 0 : 2]!.trader
}

let runs = 0

/** Creates a new pair of traders and its clients, over the same store. */
function startClients(): Client[] {
  runs += 1
  const traders = [0, 1].map((n) => `0x${n}${String(runs).padStart(39, '0')}` as Address)
  return Array.from({ length: CLIENTS }, (_, at) => {
    const trader = traders[at % 3 === 2 ? 1 : 0]!
    return { trader, held: new Map(), connection: connect(trader), listening: new Set() }
  })
}

function connect(trader: Address): RecordingConnection {
  return createRecordingConnection('base', { via: 'apiKey', trader, keyHash: trader }, { behind: 3, cut: 12 })
}

describe('the channels of a log, whatever happens at the same time,', () => {
  let opened: TestStore
  let log: AppendableLog

  before(async () => {
    opened = openTestStore()
    await migrate(opened.store)
    log = openAppendableLog(opened.store, 'base')
  })
  after(() => opened.remove())

  /** Wraps the log so that it answers after these delays: an answer may be outdated when it arrives. */
  function slowly(delays: readonly number[]): AppendableLog {
    let calls = 0
    const pause = async (): Promise<void> => {
      for (let ticks = delays[(calls += 1) % delays.length]!; ticks > 0; ticks -= 1) await nextTick()
    }
    const late = async <Answer>(ask: () => Promise<Answer>): Promise<Answer> => {
      await pause()
      const answer = await ask()
      await pause()
      return answer
    }
    return {
      ...log,
      lastSeq: (trader) => late(() => log.lastSeq(trader)),
      keptSeqs: (trader) => late(() => log.keptSeqs(trader)),
      read: (trader, of) => late(() => log.read(trader, of)),
      onAppend: (listener) => log.onAppend((trader) => void pause().then(() => listener(trader))),
    }
  }

  function startChannels(delays: readonly number[]): LogChannels {
    // The state of a channel is the number of its events: a snapshot must include at least those up to its seq.
    const make = async (trader: Address): Promise<string> => {
      await nextTick()
      return String((await log.read(trader, { after: 0, limit: 100_000 })).length)
    }
    return createLogChannels({
      log: slowly(delays),
      agents: {
        chain: testChain('base'),
        relayer: null,
        registry: { isKeyEnded: () => false } as never,
        delegates: {} as never,
      },
      snapshots: { orders: make, fills: make, positions: make, account: make },
      isKnown: () => true,
      watch: () => () => undefined,
      now: () => 0,
      onError: (error) => assert.fail(String(error)),
    })
  }

  async function listen(channels: LogChannels, of: Client, name: LogChannel, isResumed: boolean): Promise<void> {
    const { connection, listening, held } = of
    const known = held.get(name)
    const fromSeq = isResumed ? nextSeq(known) : undefined
    if (!connection.isOpen || listening.has(name)) return
    const message = { op: 'subscribe', channel: name, ...(fromSeq === undefined ? {} : { fromSeq }) } as const
    const subscription = await channels[name].subscribe(connection, message)
    if (!connection.isOpen || listening.has(name)) return subscription.close()
    listening.add(name)
    connection.subscriptions.add(subscription)
    if (fromSeq !== undefined) held.set(name, known ?? { from: fromSeq, texts: [] })
    subscription.start()
  }

  /** Moves the messages sent to a socket to the record of its client. */
  function collect({ connection, held }: Client): void {
    for (const text of connection.texts.splice(0)) {
      const { channel: name, snapshot, seq, data } = JSON.parse(text) as Message
      if (snapshot) {
        assert.ok(Number(data) >= seq, 'a snapshot holds what its seq says')
        held.set(name, { from: seq + 1, texts: [] })
      } else held.get(name)!.texts.push(text)
    }
  }

  async function take(one: Step, clients: readonly Client[], channels: LogChannels): Promise<unknown> {
    switch (one.kind) {
      case 'append':
        return log.append(
          traderOf(clients, one.trader),
          one.channels.map((name, at) => testEvent(name, `${at}`)),
        )
      case 'wait':
        for (let tick = 0; tick < one.ticks; tick += 1) await nextTick()
        return undefined
      case 'stick':
        return (clients[one.client]!.connection.isStuck = true)
      case 'drain':
        clients[one.client]!.connection.isStuck = false
        return clients[one.client]!.connection.drain()
      case 'cut':
        return cut(clients[one.client]!)
      default:
        collect(clients[one.client]!)
        return listen(channels, clients[one.client]!, one.channel, one.kind === 'resume')
    }
  }

  function cut(of: Client): void {
    of.connection.close(1_006, '')
    collect(of)
    of.connection = connect(of.trader)
    of.listening = new Set()
  }

  /** Lets every client read everything, and reconnects those that were disconnected. */
  async function finish(clients: readonly Client[], channels: LogChannels): Promise<void> {
    for (const of of clients) {
      if (!of.connection.isOpen) cut(of)
      of.connection.isStuck = false
      of.connection.drain()
      collect(of)
      for (const name of of.held.keys()) await listen(channels, of, name, true)
    }
    // What is missing after that is told by `requireAll`.
    await until('everything is told', () => isAllTold(clients), TOLD_MS).catch(() => undefined)
    for (let quietTicks = 0; quietTicks < QUIET_TICKS; quietTicks += 1) {
      await nextTick()
      if (clients.some(({ connection }) => connection.texts.length > 0)) quietTicks = 0
      clients.forEach(collect)
    }
  }

  /** Returns true when every client has as many messages as it should; more may come. */
  async function isAllTold(clients: readonly Client[]): Promise<boolean> {
    clients.forEach(collect)
    for (const { trader, held } of clients) {
      const events = await log.read(trader, { after: 0, limit: 100_000 })
      for (const [name, { from, texts }] of held) {
        const expected = events.filter((event) => event.channel === name && event.seq >= from)
        if (texts.length < expected.length) return false
      }
    }
    return true
  }

  async function requireAll(clients: readonly Client[]): Promise<void> {
    for (const { trader, held } of clients) {
      const events = await log.read(trader, { after: 0, limit: 100_000 })
      for (const [name, { from, texts }] of held) {
        const expected = events.filter((event) => event.channel === name && event.seq >= from).map(eventMessage)
        assert.deepEqual(texts, expected, `${name} from ${from}`)
      }
    }
  }

  it('tell each client each event of its channel once and in order', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 120 }), anyDelays, async (steps, delays) => {
        const clients = startClients()
        const channels = startChannels(delays)
        const doing: Promise<unknown>[] = []
        for (const one of steps) {
          const done = take(one, clients, channels)
          doing.push(done)
          if (one.kind === 'wait') await done
        }
        await Promise.all(doing)
        await finish(clients, channels)
        await requireAll(clients)
        channels.close()
      }),
      { numRuns: 300 },
    )
  })
})

interface Message {
  readonly channel: LogChannel
  readonly snapshot: boolean
  readonly seq: number
  readonly data: unknown
}

/** Returns the sequence number from which a client resumes. */
function nextSeq(held: Held | undefined): number {
  const last = held?.texts.at(-1)
  return last === undefined ? (held?.from ?? 1) : (JSON.parse(last) as Message).seq + 1
}
