import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createChainClock } from './chainClock.ts'
import { createTestChain } from './testing/testChain.ts'

test('chain time is wall time, in whole seconds', () => {
  let nowMs = 5_900
  const clock = createChainClock(() => nowMs)
  assert.equal(clock.takeTimestampS(0), 5)
  nowMs = 6_000
  assert.equal(clock.takeTimestampS(5), 6)
})

test('it never goes back, even when the wall clock does', () => {
  const clock = createChainClock(() => 5_000)
  assert.equal(clock.takeTimestampS(9), 9)
})

test('without help it is never ahead of wall time, however many blocks there are', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(700), { minLength: 1, maxLength: 200 }), (steps) => {
      let nowMs = 1_000_000
      const clock = createChainClock(() => nowMs)
      let parentS = 1_000
      for (const step of steps) {
        nowMs += step
        const timestampS = clock.takeTimestampS(parentS)
        assert.ok(timestampS >= parentS && timestampS === Math.floor(nowMs / 1000))
        parentS = timestampS
      }
    }),
  )
})

test('increase adds up, setNext holds for one block and time goes on from there', () => {
  let nowMs = 100_000
  const clock = createChainClock(() => nowMs)
  assert.equal(clock.increase(10), 10)
  assert.equal(clock.increase(5), 15)
  assert.equal(clock.takeTimestampS(0), 115)
  clock.setNext(500, 115)
  assert.equal(clock.takeTimestampS(115), 500)
  nowMs += 2_000
  assert.equal(clock.takeTimestampS(500), 502)
})

test('times before the head or beyond the year 9999 are refused', () => {
  const clock = createChainClock(() => 100_000)
  assert.throws(() => clock.setNext(99, 100), /lower than the latest block's/)
  assert.throws(() => clock.setNext(2 ** 50, 100), /year 9999/)
  assert.throws(() => clock.increase(2 ** 50), /year 9999/)
  assert.equal(clock.takeTimestampS(0), 100)
})

test('on a chain: hardhat_mine does not move time unless an interval is asked for', async () => {
  const chain = await createTestChain({ now: () => 1_700_000_000_500 })
  await chain.request('hardhat_mine', ['0x32'])
  assert.equal(chain.head().timestampS, 1_700_000_000)
  await chain.request('hardhat_mine', ['0x3', '0x3c'])
  assert.equal(chain.head().timestampS, 1_700_000_120)
  await chain.request('evm_increaseTime', ['0x3c'])
  await chain.mine()
  assert.equal(chain.head().timestampS, 1_700_000_180)
  await chain.request('evm_setNextBlockTimestamp', [1_800_000_000])
  await chain.request('evm_mine', [])
  assert.equal(chain.head().timestampS, 1_800_000_000)
  await chain.request('evm_mine', [1_800_000_001])
  assert.equal(chain.head().timestampS, 1_800_000_001)
  await assert.rejects(chain.request('evm_mine', [5]), { code: -32602 })
})

test('on a chain: blocks of the timer keep to the wall clock', async () => {
  const startMs = Date.now()
  const chain = await createTestChain({ blockMs: 2 })
  const hundred = new Promise<void>((resolve) => chain.onBlock(({ number }) => number === 100 && resolve()))
  chain.start()
  await hundred
  await chain.stop()
  const { timestampS } = chain.head()
  assert.ok(timestampS <= Date.now() / 1000 && timestampS >= Math.floor(startMs / 1000), `chain time is ${timestampS}`)
})
