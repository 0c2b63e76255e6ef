import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createUnitBudget, unitsOf, type Asker } from './unitBudget.ts'

describe('the budget of units of a provider', () => {
  const start = (unitsPerSecond?: number) => {
    const clock = { ms: 0 }
    return { clock, budget: createUnitBudget({ unitsPerSecond, now: () => clock.ms }) }
  }

  it('counts calls as providers bill them', () => {
    assert.deepEqual(
      ['eth_chainId', 'eth_getLogs', 'eth_call', 'anything'].map((method) => unitsOf({ method })),
      [0, 60, 26, 26],
    )
  })

  it('bounds nothing before something was refused', async () => {
    const { budget } = start()
    await budget.take(1_000_000)
    assert.equal(budget.rate(), undefined)
  })

  it('learns a lower rate from a refusal, once for all that is refused together', async () => {
    const { clock, budget } = start()
    clock.ms = 5_000
    await budget.take(1_000)
    for (let i = 0; i < 50; i += 1) budget.refused()
    assert.equal(budget.rate(), 700)
    clock.ms = 6_500
    budget.refused()
    assert.equal(Math.round(budget.rate()!), 490)
  })

  it('never goes so low that writes would wait for long', async () => {
    const { clock, budget } = start()
    for (let i = 0; i < 20; i += 1) {
      clock.ms += 1_000
      budget.refused()
    }
    assert.equal(budget.rate(), 260)
  })

  it('grows again while nothing is refused, and forgets in the end', async () => {
    const { clock, budget } = start()
    await budget.take(1_000)
    budget.refused()
    clock.ms = 10_000
    assert.equal(Math.round(budget.rate()!), 1_050)
    clock.ms = 130_000
    assert.equal(budget.rate(), undefined)
  })

  it('stays within the setting, whatever is learnt', async () => {
    const { clock, budget } = start(500)
    await budget.take(400)
    budget.refused()
    assert.equal(budget.rate(), 280)
    clock.ms = 1_000_000
    assert.equal(budget.rate(), 500)
  })

  it('lets the next wait until what was lent is paid back', async () => {
    let ms = 0
    const budget = createUnitBudget({ unitsPerSecond: 100, now: () => (ms += 400) })
    await budget.take(300)
    const before = ms
    await budget.take(1)
    assert.ok(ms - before >= 2_000, 'the clock went on for what was lent')
  })

  it('lets writers, the follower and readers that wait take turns', async () => {
    const { clock, budget } = start(10_000)
    const order: string[] = []
    const take = (name: string, asker: Asker): Promise<void> =>
      budget.take(name === 'lent' ? 10_100 : 300, asker).then(() => void order.push(name))
    const reads = ['lent', 'read 1', 'read 2', 'read 3'].map((name) => take(name, 'reader'))
    const writes = ['write 1', 'write 2', 'write 3'].map((name) => take(name, 'writer'))
    const followed = ['followed 1', 'followed 2'].map((name) => take(name, 'follower'))
    clock.ms = 1_000
    await Promise.all([...reads, ...writes, ...followed])
    const expected = 'lent, write 1, followed 1, read 1, write 2, followed 2, read 2, write 3, read 3'
    assert.equal(order.join(', '), expected)
  })

  it('tells how long what waits will take, with what is to be paid back', async () => {
    const { clock, budget } = start(100)
    assert.equal(budget.waitMs(), 0)
    await budget.take(300)
    assert.equal(budget.waitMs(), 2_000)
    const waiting = [budget.take(150), budget.take(50, 'writer')]
    assert.equal(budget.waitMs(), 4_000)
    clock.ms = 10_000
    await Promise.all(waiting)
    assert.equal(budget.waitMs(), 1_000)
    assert.equal(start().budget.waitMs(), 0)
  })
})
