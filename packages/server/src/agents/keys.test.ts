import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { StoreUnavailableError } from '../ground/unavailable.ts'
import { migrate } from '../store/openStore.ts'
import type { Store } from '../store/sql.ts'
import { openMemoryStore } from '../store/testing/memoryStore.ts'
import { openRegistry, type Registry } from './registry.ts'
import { addressOf, sampleAgent } from './testing/sampleAgent.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const TRADER = addressOf('1')

describe('the use of an API key', () => {
  let store: Store
  let registry: Registry
  let nowMs: number
  let transactions: number
  let reads: number
  let isAway: boolean

  beforeEach(async () => {
    nowMs = 1_700_000_000_000
    isAway = false
    const opened = openMemoryStore()
    await migrate(opened)
    store = {
      ...opened,
      read: {
        ...opened.read,
        get(...of) {
          reads += 1
          return opened.read.get(...of)
        },
      },
      transaction(scope, work) {
        transactions += 1
        return isAway ? Promise.reject(new StoreUnavailableError('no space')) : opened.transaction(scope, work)
      },
    }
    registry = await openRegistry(store, { now: () => nowMs })
    await issue('desk')
  })
  afterEach(() => store.close())

  const issue = async (label: string): Promise<void> => {
    const of = { chain: 'base', trader: TRADER, label, keyHash: label, network: '10.0.0.0/24' } as const
    await registry.addKey({ ...of, createdAtMs: nowMs, signedAtMs: (nowMs += 1) })
    reads = transactions = 0
  }
  const use = () => registry.noteKeyUse('base', 'desk')
  const prove = () => registry.changeAgent('base', addressOf('a'), () => sampleAgent({ standing: 'used' }))
  const usedAtMs = async (): Promise<number | null | undefined> =>
    (await registry.listKeys('base', TRADER))[0]?.lastUsedAtMs

  it('is written once an hour while the key is a claim, and once a minute when it is proven', async () => {
    await use()
    transactions = 0
    for (let at = 0; at < 60; at += 1) {
      nowMs += MINUTE_MS
      await use()
    }
    assert.equal(transactions, 1)
    await prove()
    nowMs += HOUR_MS
    await use()
    transactions = 0
    for (let at = 0; at < 60; at += 1) {
      nowMs += MINUTE_MS
      await use()
    }
    assert.equal(transactions, 60)
  })

  it('is written once, however many requests come at once', async () => {
    const useOften = () => Promise.all(Array.from({ length: 500 }, use))
    await useOften()
    assert.equal(transactions, 1, 'the first use')
    nowMs += HOUR_MS
    await useOften()
    assert.equal(transactions, 2)
    assert.equal(await usedAtMs(), nowMs)
  })

  it('is tried again a minute after the store failed, and refuses nothing', async () => {
    await use()
    nowMs += HOUR_MS
    isAway = true
    transactions = 0
    for (let at = 0; at < 50; at += 1) await use()
    assert.equal(transactions, 1)
    isAway = false
    nowMs += MINUTE_MS
    await Promise.all([use(), use()])
    assert.deepEqual([transactions, await usedAtMs()], [2, nowMs])
  })

  it('does not bring a key back that is ended meanwhile', async () => {
    const end = () => registry.endKey({ chain: 'base', trader: TRADER, label: 'desk' }, async () => undefined)
    await Promise.all([end(), use(), use()])
    nowMs += HOUR_MS
    await use()
    assert.deepEqual([await registry.keyOwner('base', 'desk'), registry.isKeyEnded('base', 'desk')], [undefined, true])
  })

  it('reads no store, however many keys strangers make up', async () => {
    await use()
    for (let at = 0; at < 10_000; at += 1) await registry.keyOwner('base', `made up ${at}`)
    reads = 0
    for (let at = 0; at < 100; at += 1) await use()
    assert.deepEqual([registry.keyOwner('base', 'desk'), reads], [TRADER, 0])
    await registry.endKey({ chain: 'base', trader: TRADER, label: 'desk' }, async () => undefined)
    for (let at = 0; at < 10_000; at += 1) await registry.keyOwner('base', `made up again ${at}`)
    assert.equal(registry.isKeyEnded('base', 'desk'), true, 'a socket that is open learns of the end')
    reads = 0
    assert.equal(registry.keyOwner('base', 'made up again 9999'), undefined)
    assert.equal(reads, 0)
  })

  it('of one that was asked for before it was issued is accepted', async () => {
    assert.equal(await registry.keyOwner('base', 'next'), undefined)
    await issue('next')
    assert.equal(await registry.keyOwner('base', 'next'), TRADER)
  })
})
