import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { parseAddress } from '@bezel/protocol'
import type { FastifyInstance } from 'fastify'
import { eventEntry } from '../../../journal/readPage.ts'
import { openAppendableLog, testEvent, type AppendableLog } from '../../../journal/testing/appendableLog.ts'
import { createApiKey } from '../../../agents/apiKey.ts'
import { keyAccess } from '../../../access/testing/keyAccess.ts'
import { migrate } from '../../../store/openStore.ts'
import { openTestStore, type TestStore } from '../../../store/testing/testStore.ts'
import { testChain } from '@bezel/testkit/servedChain.ts'
import { createApp } from '../../createApp.ts'
import { registerRoute } from '../../hooks/registerRoute.ts'
import { listEventsRoute } from './listEvents.ts'

const BASE = testChain('base')
const ALICE = parseAddress(`0x${'a1'.repeat(20)}`)!
const BOB = parseAddress(`0x${'b2'.repeat(20)}`)!
const CAROL = parseAddress(`0x${'c3'.repeat(20)}`)!
const KEYS = new Map([ALICE, BOB, CAROL].map((trader) => [trader, createApiKey()]))
const DATA = '{"text":"é\\u0001 😀","n":1.50}'

describe('listEvents', () => {
  let opened: TestStore
  let log: AppendableLog
  let app: FastifyInstance
  let isAllKnown = true

  before(async () => {
    opened = openTestStore()
    await migrate(opened.store)
    log = openAppendableLog(opened.store, 'base')
    const events = Array.from({ length: 150 }, (_, at) => testEvent(at % 2 === 0 ? 'orders' : 'fills', String(at)))
    await log.append(ALICE, [...events, { ...events[0]!, data: DATA, block: 12, isReverted: true }])
    app = createApp('silent')
    const isKnown = (): boolean => isAllKnown
    registerRoute(app, listEventsRoute, { ...keyAccess(BASE, KEYS), chains: [BASE], logOf: () => log, isKnown })
  })
  after(() => opened.remove())

  async function get(query: string, caller = ALICE, of = ALICE) {
    const url = `/v1/base/account/${of}/events${query}`
    const answer = await app.inject({ url, headers: { 'x-service-api-key': KEYS.get(caller)! } })
    return { status: answer.statusCode, text: answer.body, body: answer.json() }
  }
  const seqsOf = (body: { data: { seq: number }[] }) => body.data.map(({ seq }) => seq)

  it('lists the log from its beginning, 100 at a time, with the last seq', async () => {
    const { status, body } = await get('')
    assert.deepEqual([status, body.lastSeq], [200, 151])
    assert.deepEqual(
      seqsOf(body),
      Array.from({ length: 100 }, (_, at) => at + 1),
    )
    assert.deepEqual(Object.keys(body.data[0]), ['seq', 'channel', 'timestamp', 'block', 'reverted', 'data'])
    assert.deepEqual(seqsOf((await get('?after=100')).body).length, 51)
    assert.deepEqual(seqsOf((await get('?after=7&limit=2')).body), [8, 9])
  })

  it('has fewer events than were asked for when they are long, and the next page has the rest', async () => {
    await log.append(
      CAROL,
      Array.from({ length: 30 }, () => testEvent('orders', 'x'.repeat(100_000))),
    )
    const { body } = await get('?limit=500', CAROL, CAROL)
    assert.deepEqual([seqsOf(body).length, body.lastSeq], [20, 30])
    assert.deepEqual(seqsOf((await get('?after=20', CAROL, CAROL)).body), [21, 22, 23, 24, 25, 26, 27, 28, 29, 30])
  })

  it('shows the stored bytes', async () => {
    const { text } = await get('?after=150')
    const [event] = await log.read(ALICE, { after: 150, limit: 1 })
    assert.equal(text, `{"data":[${eventEntry(event!)}],"lastSeq":151}`)
    assert.ok(text.includes(`"channel":"orders","timestamp":1700000000000,"block":12,"reverted":true,"data":${DATA}}`))
  })

  it('is empty beyond the last event, and of an account that nothing happened to', async () => {
    for (const place of ['151', '152', '9007199254740991']) {
      assert.equal((await get(`?after=${place}`)).text, '{"data":[],"lastSeq":151}')
    }
    assert.equal((await get('', BOB, BOB)).text, '{"data":[],"lastSeq":0}')
  })

  it('is for the owner of the account only', async () => {
    const { status, body } = await get('', BOB)
    assert.deepEqual([status, body.code], [403, 'TRADER_MISMATCH'])
    assert.equal((await app.inject(`/v1/base/account/${ALICE}/events`)).json().code, 'UNAUTHENTICATED')
  })

  it('is refused while not everything of the account is known', async () => {
    isAllKnown = false
    const { status, body } = await get('')
    isAllKnown = true
    assert.deepEqual([status, body.code, body.details.reason], [503, 'NOT_READY', 'snapshot'])
  })

  it('refuses a query that it does not know', async () => {
    const refusedBy: [query: string, issue: string][] = [
      ['?after=-1', 'query.after'],
      ['?after=1.5', 'query.after'],
      ['?after=', 'query.after'],
      ['?after=9007199254740992', 'query.after'],
      ['?after=1&after=2', 'query.after'],
      ['?limit=0', 'query.limit'],
      ['?limit=501', 'query.limit'],
      ['?fromSeq=1', 'query.fromSeq'],
    ]
    for (const [query, issue] of refusedBy) {
      const { status, body } = await get(query)
      assert.deepEqual([status, body.code], [400, 'VALIDATION_ERROR'], query)
      assert.deepEqual(
        body.details.issues.map(({ path }: { path: string }) => path),
        [issue],
        query,
      )
    }
  })
})
