import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { Usd, type OrderId } from '@bezel/protocol'
import type { TriggerKey } from '../store/facadeTriggerStore.ts'
import { takeId, insertOrder } from '../store/orderStore.ts'
import { migrate } from '../store/openStore.ts'
import { insertPosition } from '../store/positionStore.ts'
import { openTestStore, type TestStore } from '../store/testing/testStore.ts'
import { ALICE } from './testing/facadeWorld.ts'
import { createTriggers, originOfTrigger, triggerOfOrigin } from './triggers.ts'

const key = (positionId: string, kind: TriggerKey['kind']): TriggerKey => ({ positionId: positionId as OrderId, kind })

describe('ids of take profits and stop losses', () => {
  let opened: TestStore

  beforeEach(async () => {
    opened = openTestStore()
    await migrate(opened.store)
    await opened.store.transaction(async (sql) => {
      for (let i = 0; i < 3; i += 1) {
        const id = await takeId(sql)
        const order = { id, chain: 'base' as const, trader: ALICE, agent: null, createdAtMs: 1, originKey: `tx:${id}` }
        await insertOrder(sql, { ...order, spendUsd: Usd.zero, request: { clientId: null } as never })
        await insertPosition(sql, { id, chain: 'base', trader: ALICE, originOrderId: id })
      }
    })
  })
  afterEach(() => opened.remove())

  it('come from the one sequence of the deployment, one for each position and kind', async () => {
    const triggers = createTriggers(opened.store)
    const keys = [key('1', 'tp'), key('1', 'sl'), key('2', 'sl')]
    assert.equal(await triggers.knownOid(keys[0]!), undefined)
    assert.deepEqual(await triggers.oidsOf(keys), ['4', '5', '6'])
    assert.equal(await opened.store.transaction(takeId), '7')
    assert.deepEqual(await triggers.oidsOf([...keys, key('3', 'tp')]), ['4', '5', '6', '8'])
    assert.deepEqual(await triggers.find('5' as OrderId), { ...keys[1], isFormer: false })
    assert.equal(await triggers.find('7' as OrderId), undefined)
    assert.deepEqual(await triggers.oidsOf([]), [])
  })

  it('are the same after a restart, in another process, and for readers that come together', async () => {
    const keys = [key('1', 'tp'), key('2', 'tp')]
    const [mine, others] = [createTriggers(opened.store), createTriggers(opened.store)]
    const answers = await Promise.all([mine.oidsOf(keys), others.oidsOf(keys.toReversed()), mine.oidsOf(keys)])
    assert.deepEqual(answers[0], answers[2])
    assert.deepEqual(answers[0], answers[1].toReversed())
    assert.deepEqual(await createTriggers(await opened.reopen()).oidsOf(keys), answers[0])
  })

  it('are new for another order in the same place, and the old one is found as a former one', async () => {
    const [triggers, others] = [createTriggers(opened.store), createTriggers(opened.store)]
    const stop = key('1', 'sl')
    assert.deepEqual(await triggers.oidsOf([stop]), ['4'])
    const oid = await opened.store.transaction((sql) => triggers.renew(sql, stop))
    triggers.renewed(stop, oid)
    assert.deepEqual([oid, await triggers.oidsOf([stop]), await others.oidsOf([stop])], ['5', ['5'], ['5']])
    assert.deepEqual(await triggers.find('4' as OrderId), { ...stop, isFormer: true })
    assert.deepEqual(await triggers.find('5' as OrderId), { ...stop, isFormer: false })
    // A late reader that still holds the old id does not bring it back.
    triggers.renewed(stop, '4' as OrderId)
    assert.equal(await triggers.knownOid(stop), '5')
  })

  it('are found from the order that executed them', () => {
    for (const one of [key('12', 'tp'), key('9', 'sl')]) assert.deepEqual(triggerOfOrigin(originOfTrigger(one)), one)
    for (const origin of [null, '', 'liq:5', 'tp:', 'tx:tp:5', 'tp:5x'])
      assert.equal(triggerOfOrigin(origin), undefined)
  })
})
