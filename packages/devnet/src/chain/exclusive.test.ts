import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createExclusive } from './exclusive.ts'
import { createInFlightLimit } from './edrProvider.ts'

const turn = (): Promise<void> => new Promise(setImmediate)

test('exclusive: jobs run one after the other, also after one that failed', async () => {
  const exclusive = createExclusive()
  const log: string[] = []
  const job = (name: string) => async () => {
    log.push(`${name} starts`)
    await turn()
    log.push(`${name} ends`)
    if (name === 'b') throw new Error('b failed')
    return name
  }
  const results = await Promise.allSettled([
    exclusive.run(job('a')),
    exclusive.runClosed(job('b')),
    exclusive.run(job('c')),
  ])
  assert.deepEqual(
    results.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled'],
  )
  assert.deepEqual(log, ['a starts', 'a ends', 'b starts', 'b ends', 'c starts', 'c ends'])
})

test('exclusive: the gate is closed only while a closed job runs', async () => {
  const exclusive = createExclusive()
  assert.equal(exclusive.closed(), undefined)
  const open = exclusive.run(async () => assert.equal(exclusive.closed(), undefined))
  const closed = exclusive.runClosed(async () => assert.notEqual(exclusive.closed(), undefined))
  await Promise.all([open, closed])
  assert.equal(exclusive.closed(), undefined)
  await assert.rejects(exclusive.runClosed(() => Promise.reject(new Error('no'))))
  assert.equal(exclusive.closed(), undefined)
})

test('in-flight limit: never more than the limit, first come first served, idle at the end', async () => {
  const limit = createInFlightLimit(2)
  await limit.idle()
  let running = 0
  let most = 0
  const order: number[] = []
  const jobs = Array.from({ length: 9 }, (_, index) =>
    limit.run(async () => {
      order.push(index)
      running += 1
      most = Math.max(most, running)
      await turn()
      running -= 1
      if (index === 3) throw new Error('failed')
    }),
  )
  const settled = Promise.allSettled(jobs)
  await limit.idle()
  assert.equal(running, 0)
  await settled
  assert.equal(most, 2)
  assert.deepEqual(order, [0, 1, 2, 3, 4, 5, 6, 7, 8])
})
