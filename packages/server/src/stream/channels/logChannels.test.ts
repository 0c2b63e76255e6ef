import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it, mock } from 'node:test'
import { DATA_MESSAGES, LOG_CHANNELS, type Address, type LogChannel } from '@bezel/protocol'
import { eventEntry, eventMessage } from '../../journal/readPage.ts'
import { openAppendableLog, testEvent, type AppendableLog } from '../../journal/testing/appendableLog.ts'
import type { AgentRecord } from '../../trading/agentRecord.ts'
import type { Caller } from '../../access/caller.ts'
import { notReady } from '../../ground/unavailable.ts'
import { migrate } from '../../store/openStore.ts'
import { openTestStore, type TestStore } from '../../store/testing/testStore.ts'
import { testChain } from '@bezel/testkit/servedChain.ts'
import { until } from '@bezel/testkit/until.ts'
import { createRecordingConnection, type RecordingConnection } from '../testing/recordingConnection.ts'
import { createLogChannels, type LogChannels } from './logChannels.ts'
import { TEST_SCOPE } from '../../store/testing/testScope.ts'

const AGENT = `0x${'a'.repeat(40)}` as Address

/** Text of a large event, of which three are written at once. */
const LARGE = 'x'.repeat(30_000)

const NOW_MS = 1_700_000_000_000

const RECORD: AgentRecord = {
  chain: 'base',
  agent: AGENT,
  trader: AGENT,
  name: '',
  scope: { markets: 'all', maxLeverage: null, dailySpendCapUsd: null, expiresAt: null, permissions: 'trade' },
  mode: 'self',
  agentSigned: true,
  revoked: false,
  standing: 'used',
  createdAtMs: 1,
  signedAtMs: 1,
}

let opened: TestStore

let log: AppendableLog

let channels: LogChannels

let trader: Address

let record: AgentRecord | undefined

let keyOwner: Address | undefined

let delegate: Address | undefined

let nowMs: number

let watched: Address[]

let isReady: boolean

let isLagging: boolean

let isKnown: boolean

let traders = 0

const agentCaller = (): Caller => ({ via: 'agent', trader, agent: record! })

const keyCaller = (): Caller => ({ via: 'apiKey', trader, keyHash: 'k' })

async function subscribe(connection: RecordingConnection, channel: LogChannel, fromSeq?: number): Promise<void> {
  const message = { op: 'subscribe', channel, ...(fromSeq === undefined ? {} : { fromSeq }) } as const
  const subscription = await channels[channel].subscribe(connection, message)
  connection.subscriptions.add(subscription)
  subscription.start()
}

const seqsOf = ({ texts }: RecordingConnection): number[] =>
  texts.map((text) => (JSON.parse(text) as { seq: number }).seq)

const settled = (): Promise<void> => opened.quiet()

describe('the channels of a log', () => {
  before(async () => {
    opened = openTestStore()
    await migrate(opened.store)
    log = openAppendableLog(opened.store, 'base')
  })
  after(() => opened.remove())

  beforeEach(() => {
    traders += 1
    trader = `0x${String(traders).padStart(40, '0')}` as Address
    record = { ...RECORD, trader }
    keyOwner = trader
    delegate = AGENT
    nowMs = NOW_MS
    watched = []
    isReady = true
    isLagging = false
    isKnown = true
    const make = async (of: Address): Promise<string> => {
      if (!isReady) throw notReady('chain_lagging')
      return JSON.stringify([of])
    }
    channels = createLogChannels({
      log: { ...log, settled: async () => (isLagging ? Promise.reject(notReady('store_lagging')) : log.settled()) },
      agents: {
        chain: testChain('base'),
        relayer: null,
        registry: { agent: () => record, isKeyEnded: () => keyOwner === undefined } as never,
        delegates: { known: () => delegate } as never,
      },
      snapshots: { orders: make, fills: make, positions: make, account: make },
      isKnown: () => isKnown,
      watch(of) {
        watched.push(of)
        return () => void watched.splice(watched.indexOf(of), 1)
      },
      now: () => nowMs,
      onError: (error) => assert.fail(String(error)),
    })
  })

  it('begin with a snapshot that carries the last seq and the keys of a live message', async () => {
    await log.append(trader, [testEvent('orders', 'a'), testEvent('fills', 'b')])
    const connection = createRecordingConnection('base', agentCaller())
    await subscribe(connection, 'positions')
    assert.deepEqual(connection.texts, [
      `{"channel":"positions","snapshot":true,"seq":2,"timestamp":${NOW_MS},"block":null,"reverted":false,"data":["${trader}"]}`,
    ])
    assert.deepEqual(
      Object.keys(JSON.parse(connection.texts[0]!) as object),
      Object.keys(DATA_MESSAGES.positions.properties),
    )
  })

  it('go on with the events of their own channel, in the bytes that were stored', async () => {
    const connection = createRecordingConnection('base', agentCaller())
    await subscribe(connection, 'orders')
    await log.append(trader, [testEvent('orders', 'é"\\ '), testEvent('account', 'x'), testEvent('orders', '😀')])
    await until('two events', () => connection.texts.length === 3)
    const events = await log.read(trader, { after: 0, limit: 10 })
    const own = events.filter(({ channel }) => channel === 'orders')
    assert.deepEqual(connection.texts.slice(1), own.map(eventMessage))

    const again = createRecordingConnection('base', agentCaller())
    await subscribe(again, 'orders', 1)
    await until('two events', () => again.texts.length === 2)
    assert.deepEqual(again.texts, connection.texts.slice(1), 'replayed as live')
    for (const [at, text] of again.texts.entries()) {
      const data = text.slice(text.indexOf('"data":'), -1)
      assert.ok(eventEntry(own[at]!).endsWith(`${data}}`), 'listed as live')
    }
  })

  it('are refused while not everything of the trader is known, to those who resume as well', async () => {
    await log.append(trader, [testEvent('positions', 'a')])
    isKnown = false
    const connection = createRecordingConnection('base', agentCaller())
    for (const channel of LOG_CHANNELS) {
      for (const fromSeq of [undefined, 1]) {
        const refused = { code: 'NOT_READY', details: { reason: 'snapshot' } }
        await assert.rejects(subscribe(connection, channel, fromSeq), refused)
      }
    }
    assert.deepEqual([connection.texts, watched], [[], []])
  })

  it('are refused while it is not known whom other nodes have revoked, to those who resume as well', async () => {
    isLagging = true
    const connection = createRecordingConnection('base', agentCaller())
    for (const fromSeq of [undefined, 1]) {
      const refused = { code: 'NOT_READY', details: { reason: 'store_lagging' } }
      await assert.rejects(subscribe(connection, 'orders', fromSeq), refused)
    }
    assert.deepEqual([connection.texts, watched], [[], []])
  })

  it('say what the last and the first seq are when fromSeq is beyond them', async () => {
    const connection = createRecordingConnection('base', agentCaller())
    const from = (fromSeq: number) => subscribe(connection, 'orders', fromSeq)
    await assert.rejects(from(2), { code: 'VALIDATION_ERROR', message: /at most 1: the last event is 0/ })
    await from(1)
    await log.append(trader, [testEvent('orders', 'a'), testEvent('orders', 'b'), testEvent('orders', 'c')])
    await assert.rejects(from(5), { code: 'VALIDATION_ERROR', message: /at most 4: the last event is 3/ })
    await opened.store.transaction(TEST_SCOPE, (sql) =>
      sql.run(
        'delete from account_events where seq < 3 and log_id = (select id from account_logs where trader = $1)',
        trader,
      ),
    )
    await assert.rejects(from(2), { code: 'VALIDATION_ERROR', message: /at least 3: older events/ })
    const other = createRecordingConnection('base', agentCaller())
    await subscribe(other, 'orders', 3)
    await until('the event that is kept', () => other.texts.length === 1)
    assert.deepEqual(watched, [trader], 'refused ones watch nothing')
  })

  it('need a caller, and a snapshot that can be made', async () => {
    await assert.rejects(subscribe(createRecordingConnection('base', undefined), 'orders'), { code: 'UNAUTHENTICATED' })
    isReady = false
    const connection = createRecordingConnection('base', keyCaller())
    await assert.rejects(subscribe(connection, 'orders'), { code: 'NOT_READY', details: { reason: 'chain_lagging' } })
    assert.deepEqual([connection.texts, watched], [[], []])
    await subscribe(connection, 'orders', 1)
    assert.deepEqual(watched, [trader])
    connection.close(1_000, '')
    assert.deepEqual(watched, [])
  })

  it('take a long replay, and a long page of live events, as fast as the client does', async () => {
    await log.append(
      trader,
      Array.from({ length: 300 }, () => testEvent('orders', LARGE)),
    )
    const connection = createRecordingConnection('base', agentCaller())
    connection.isStuck = true
    await subscribe(connection, 'orders', 1)
    await settled()
    assert.deepEqual(seqsOf(connection), [1, 2, 3, 4, 5, 6], 'it waits')
    while (connection.texts.length < 300) {
      connection.drain()
      await settled()
    }
    assert.deepEqual([connection.closedWith, connection.texts.length], [undefined, 300])
    connection.drain()
    await settled()
    const live = Array.from({ length: 200 }, () => testEvent('orders', 'live'))
    await log.append(trader, live)
    await settled()
    assert.equal(connection.texts.length, 306, 'it waits again')
    connection.isStuck = false
    connection.drain()
    await until('all events', () => connection.texts.length === 500)
    assert.deepEqual(
      seqsOf(connection),
      Array.from({ length: 500 }, (_, at) => at + 1),
    )
    await log.append(trader, [testEvent('orders', 'live again')])
    await until('one more', () => connection.texts.length === 501)
    assert.equal(connection.closedWith, undefined)
  })

  it('cut a client that stays behind for long, which can resume', async () => {
    const connection = createRecordingConnection('base', agentCaller())
    await subscribe(connection, 'orders', 1)
    await settled()
    connection.isStuck = true
    mock.timers.enable({ apis: ['setTimeout'] })
    await log.append(
      trader,
      Array.from({ length: 30 }, () => testEvent('orders', 'live')),
    )
    await settled()
    mock.timers.tick(29_000)
    assert.equal(connection.closedWith, undefined)
    mock.timers.tick(2_000)
    mock.timers.reset()
    assert.deepEqual([connection.closedWith, connection.refusals], [4429, ['RATE_LIMITED']])
    assert.deepEqual(seqsOf(connection), [1, 2, 3, 4, 5, 6])
    assert.deepEqual(watched, [])
    const again = createRecordingConnection('base', agentCaller())
    await subscribe(again, 'orders', 7)
    await until('the rest', () => again.texts.length === 24)
  })

  it('end a replay whose events are forgotten under it', async () => {
    await log.append(
      trader,
      Array.from({ length: 30 }, () => testEvent('orders', LARGE)),
    )
    const connection = createRecordingConnection('base', agentCaller())
    connection.isStuck = true
    await subscribe(connection, 'orders', 1)
    await settled()
    await opened.store.transaction(TEST_SCOPE, (sql) =>
      sql.run(
        'delete from account_events where seq < 20 and log_id = (select id from account_logs where trader = $1)',
        trader,
      ),
    )
    connection.drain()
    await until('the cut', () => connection.closedWith === 4429)
    assert.deepEqual(seqsOf(connection), [1, 2, 3, 4, 5, 6])
  })

  const losses: [code: string, caller: () => Caller, lose: () => void][] = [
    ['AGENT_REVOKED', agentCaller, () => (record = { ...record!, revoked: true })],
    ['AGENT_REVOKED', agentCaller, () => (record = { ...record!, trader: AGENT })],
    ['AGENT_EXPIRED', agentCaller, () => (nowMs = NOW_MS + 10)],
    ['AGENT_NOT_DELEGATED', agentCaller, () => (delegate = trader)],
    ['API_KEY_UNKNOWN', keyCaller, () => (keyOwner = undefined)],
  ]
  for (const [at, [code, callerOf, lose]] of losses.entries()) {
    it(`tell nothing more to a caller that lost its right: ${code} (${at})`, async () => {
      record = { ...record!, scope: { ...RECORD.scope, expiresAt: NOW_MS + 10 } }
      const caller = callerOf()
      const connection = createRecordingConnection('base', caller)
      for (const channel of LOG_CHANNELS) await subscribe(connection, channel)
      await log.append(trader, [testEvent('orders', 'a')])
      await until('the event', () => connection.texts.length === 5)
      lose()
      await log.append(trader, [testEvent('orders', 'b'), testEvent('fills', 'c')])
      await until('the error', () => connection.refusals.length > 0)
      await settled()
      assert.deepEqual([connection.refusals, connection.texts.length, connection.caller], [[code], 5, undefined])
      assert.deepEqual(watched, [])
      const another = createRecordingConnection('base', caller)
      await assert.rejects(subscribe(another, 'orders'), { code: 'UNAUTHENTICATED' })
      assert.deepEqual([another.refusals, another.caller], [[code], undefined])
    })
  }

  it('go on for a read agent that nobody delegated, and while the delegate is not known', async () => {
    delegate = undefined
    const trading = createRecordingConnection('base', agentCaller())
    await subscribe(trading, 'orders')
    record = { ...record!, scope: { ...RECORD.scope, permissions: 'read' } }
    delegate = trader
    const reading = createRecordingConnection('base', agentCaller())
    await subscribe(reading, 'orders')
    await log.append(trader, [testEvent('orders', 'a')])
    await until('both', () => reading.texts.length === 2 && trading.texts.length === 2)
  })
})
