import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { DAY_MS, type Address } from '@bezel/protocol'
import { appendEvents, listEvents } from '../store/accountEventStore.ts'
import { migrate } from '../store/migrate.ts'
import { openTestStore } from '../store/testStore.ts'
import { until } from '@bezel/testkit/until.ts'
import { forgetOldEvents } from './forgetOldEvents.ts'

const OWNER = { chain: 'base', trader: '0x00000000000000000000000000000000000000A1' as Address } as const

describe('forgetting old events', () => {
  it('keeps the days of the setting, or all', async () => {
    const { store, remove } = openTestStore()
    await migrate(store)
    const event = { channel: 'account', block: null, isReverted: false, data: '1' } as const
    const days = [1, 2, 3, 4].map((day) => ({ ...event, timestampMs: day * DAY_MS }))
    await store.transaction((sql) => appendEvents(sql, OWNER, days))
    const seqs = async () => (await listEvents(store.read, OWNER, { after: 0, limit: 9 })).map(({ seq }) => seq)
    const of = { store, now: () => 4 * DAY_MS, onError: (error: unknown) => assert.fail(String(error)), roundMs: 5 }

    await forgetOldEvents({ ...of, keepDays: 0 })()
    assert.deepEqual(await seqs(), [1, 2, 3, 4])
    const end = forgetOldEvents({ ...of, keepDays: 2 })
    await until('the first is gone', async () => (await seqs()).length === 3)
    await end()
    assert.deepEqual(await seqs(), [2, 3, 4])
    await remove()
  })
})
