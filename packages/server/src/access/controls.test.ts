import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { parseAddress, type Address, type ApiError } from '@bezel/protocol'
import { until } from '@bezel/testkit/until.ts'
import { deleteControl, saveControl, type ControlKey } from '../store/controlStore.ts'
import { migrate } from '../store/openStore.ts'
import { openTestStore, type TestStore } from '../store/testing/testStore.ts'
import type { Store } from '../store/sql.ts'
import { openControls, requireUnpaused, type Controls } from './controls.ts'
import { TEST_SCOPE } from '../store/testing/testScope.ts'

const at = (digit: string): Address => parseAddress(`0x${digit.repeat(40)}`)!

const [TRADER, OTHER, AGENT] = [at('1'), at('2'), at('3')]

const WRITES: ControlKey = { chain: 'base', control: 'writes', subject: null }

describe("the operator's controls", () => {
  let opened: TestStore
  /** A second connection, as the operator's command has one. */
  let operator: Store
  let controls: Controls

  beforeEach(async () => {
    opened = openTestStore()
    await migrate(opened.store)
    operator = opened.openBeside()
    controls = await openControls(opened.store, assert.ifError, 5)
  })
  afterEach(async () => {
    await controls.close()
    await operator.close()
    await opened.remove()
  })

  const set = (key: ControlKey, value: string): Promise<void> =>
    operator.transaction(TEST_SCOPE, (sql) => saveControl(sql, { ...key, value, setAtMs: 1 }))

  const refusal = (of: { trader: Address; agent: Address }): ApiError | undefined => {
    try {
      requireUnpaused(controls, { chain: 'base', ...of })
      return undefined
    } catch (error) {
      return error as ApiError
    }
  }

  it('are followed when another connection sets and lifts them', async () => {
    assert.equal(controls.writesPaused('base'), undefined)
    await set(WRITES, 'maintenance')
    await until('the pause is seen', async () => controls.writesPaused('base'))
    assert.deepEqual(controls.writesPaused('base'), { reason: 'maintenance' })
    assert.equal(controls.writesPaused('polygon'), undefined)
    await operator.transaction(TEST_SCOPE, (sql) => deleteControl(sql, WRITES))
    await until('the end is seen', async () => controls.writesPaused('base') === undefined)
  })

  it('refuse all writes of a chain, or those of one trader or agent, in words', async () => {
    await set(WRITES, '')
    await until('the pause is seen', async () => controls.writesPaused('base'))
    const all = refusal({ trader: TRADER, agent: AGENT })
    assert.deepEqual([all?.code, all?.status, all?.details], ['NOT_READY', 503, { reason: 'paused' }])
    assert.equal(all?.message, 'The operator has paused writes on base.')

    await operator.transaction(TEST_SCOPE, (sql) => deleteControl(sql, WRITES))
    await set({ chain: 'base', control: 'trader', subject: TRADER }, 'see your mail')
    await set({ chain: 'base', control: 'agent', subject: AGENT }, '')
    await until('both are seen', async () => controls.isPaused('base', OTHER, AGENT))
    await until('writes go on', async () => controls.writesPaused('base') === undefined)
    assert.match(
      refusal({ trader: TRADER, agent: OTHER })?.message ?? '',
      /this account or agent on base: see your mail$/,
    )
    assert.ok(refusal({ trader: OTHER, agent: AGENT }) !== undefined)
    assert.equal(refusal({ trader: OTHER, agent: OTHER }), undefined)
  })

  it('override budgets one by one', async () => {
    assert.deepEqual(controls.budgets('base'), {})
    await set({ chain: 'base', control: 'trader_day_wei', subject: null }, '5')
    await until('it is seen', async () => controls.budgets('base').traderDayWei)
    assert.deepEqual(controls.budgets('base'), { traderDayWei: 5n })
    assert.deepEqual(controls.budgets('polygon'), {})
  })

  it('hold from the first moment after a restart', async () => {
    await set({ chain: 'base', control: 'relayer', subject: null }, 'key rotation')
    const again = await openControls(operator, assert.ifError)
    assert.deepEqual(again.relayerPaused('base'), { reason: 'key rotation' })
    await again.close()
  })
})
