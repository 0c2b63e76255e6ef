import { StoreUnavailableError } from '../ground/unavailable.ts'
import assert from 'node:assert/strict'
import { appendFileSync, mkdirSync, readFileSync, rmdirSync, rmSync, statSync } from 'node:fs'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { StartupError } from '@bezel/protocol'
import { REPLAY_WINDOW_MS } from './nonceMemory.ts'
import { openNonces } from './nonces.ts'
import { AGENT, AGENTS, CHAIN, openTestNonces, START_MS, type TestNonces } from './testing/testNonces.ts'
import { TEST_SCOPE } from '../store/testing/testScope.ts'

const MAX_UINT256 = (2n ** 256n - 1n).toString()

describe('nonces', () => {
  let test: TestNonces

  beforeEach(async () => {
    test = await openTestNonces()
  })
  afterEach(() => test.remove())

  const storedNonces = async (): Promise<number> =>
    Number((await test.opened.store.read.get<{ n: bigint }>('select count(*) as n from nonces'))!.n)

  it('accepts a nonce once, whoever asks second', async () => {
    for (const nonce of ['0', '7', MAX_UINT256]) {
      assert.equal(test.read(nonce), true)
      assert.equal(test.read(nonce), false)
      assert.equal(await test.write(nonce), false)
    }
    assert.equal(await test.write('8'), true)
    assert.equal(await test.write('8'), false)
    assert.equal(test.read('8'), false)
  })

  it('keeps agents and chains apart', async () => {
    assert.equal(test.read('1'), true)
    assert.equal(test.read('1', START_MS, AGENTS[1]), true)
    assert.equal(test.nonces.claim('arbitrum', AGENT, '1', START_MS), true)
    assert.equal(await test.write('2'), true)
    assert.equal(await test.write('2', START_MS, AGENTS[1]), true)
  })

  it('takes only the one text of a number', async () => {
    for (const text of ['', '01', '+1', '-1', '1.0', '1e3', ' 1', '1\n', '0x1', '1 2', '9'.repeat(79)]) {
      assert.throws(() => test.read(text), RangeError)
      await assert.rejects(test.write(text), RangeError)
    }
    assert.equal(readFileSync(test.file, 'utf8'), '')
  })

  it('remembers a nonce until its timestamp has left the window, to the millisecond', async () => {
    for (const claim of ['read', 'write'] as const) {
      test.nowMs += 1_000_000
      const timestampMs = test.nowMs + REPLAY_WINDOW_MS
      const used = claim === 'read' ? '1' : '2'
      assert.equal(await test[claim](used, timestampMs), true)
      test.nowMs = timestampMs + REPLAY_WINDOW_MS
      assert.equal(test.read(used, timestampMs), false)
      assert.equal(test.read(used, test.nowMs), false)
      assert.equal(await test.write(used, test.nowMs), false)
      test.nowMs += 1
      assert.equal(await test[claim](used, test.nowMs), true)
      assert.equal(test.read(used, test.nowMs), false)
    }
  })

  it('refuses a replay that was in its window when it was checked and is not any more', async () => {
    const timestampMs = test.nowMs
    assert.equal(test.read('1', timestampMs), true)
    assert.equal(await test.write('2', timestampMs), true)
    for (const lateMs of [1, 1_000, 14_999, 15_000, 15_001, 60_000, 600_000]) {
      test.nowMs = timestampMs + REPLAY_WINDOW_MS + lateMs
      assert.equal(test.read(`${lateMs}`), true)
      assert.equal(test.read('1', timestampMs), false)
      assert.equal(await test.write('1', timestampMs), false)
      assert.equal(test.read('2', timestampMs), false)
    }
  })

  it('accepts a first use that waited past its window for a while', () => {
    const timestampMs = test.nowMs
    assert.equal(test.read('1'), true)
    test.nowMs += REPLAY_WINDOW_MS + 10_000
    assert.equal(test.read('2', timestampMs), true)
  })

  it('refuses what it has forgotten when the clock is set back, also after a restart', async () => {
    assert.equal(test.read('1'), true)
    for (let i = 0; i < 5; i++) {
      test.nowMs += 60_000
      test.read(`2${i}`)
    }
    test.nowMs = START_MS + 10_000
    assert.equal(test.read('1', START_MS), false)
    await test.restart()
    assert.equal(test.read('1', START_MS), false)
  })

  it('lets exactly one of many claims at once win', async () => {
    for (let round = 0; round < 10; round++) {
      const nonce = `${round}`
      const claims = Array.from({ length: 20 }, (_, i) =>
        (i + round) % 3 === 0 ? Promise.resolve().then(() => test.read(nonce)) : test.write(nonce),
      )
      const won = (await Promise.all(claims)).filter(Boolean)
      assert.equal(won.length, 1)
    }
  })

  it('has a read lose against a write that is not committed yet', async () => {
    assert.equal(test.nonces.claim(CHAIN, AGENT, '1', START_MS), true)
    await test.opened.store.transaction(TEST_SCOPE, async (sql) => {
      const claim = test.nonces.storeClaim(sql, CHAIN, AGENT, '1', START_MS)
      assert.equal(test.read('1'), false)
      assert.equal(await claim, true)
      assert.equal(test.read('1'), false)
    })
  })

  it('does not give a nonce back when the write is rolled back, not even after a restart', async () => {
    assert.equal(await test.writeRefused('1'), true)
    assert.equal(await storedNonces(), 0)
    assert.equal(await test.write('1'), false)
    assert.equal(test.read('1'), false)
    await test.restart()
    assert.equal(await test.write('1'), false)
  })

  it('lets a write claim early and store its claim later', async () => {
    assert.equal(test.read('1'), true)
    const store = (): Promise<boolean> =>
      test.opened.store.transaction(TEST_SCOPE, (sql) => test.nonces.storeClaim(sql, CHAIN, AGENT, '1', START_MS))
    assert.equal(await store(), true)
    assert.equal(await store(), false)
  })

  it('still knows every nonce after a restart, and after a second one', async () => {
    assert.equal(test.read('1'), true)
    assert.equal(await test.write('2'), true)
    for (let i = 0; i < 3; i++) {
      await test.restart()
      assert.equal(test.nonces.size, 2)
      assert.equal(await test.write('1'), false)
      assert.equal(test.read('2'), false)
    }
    assert.equal(test.read('3'), true)
  })

  it('still knows the writes when the files are lost', async () => {
    assert.equal(await test.write('1'), true)
    for (const suffix of ['', '.old']) rmSync(test.file + suffix)
    await test.restart()
    assert.equal(test.read('1'), false)
    assert.equal(await test.write('1'), false)
  })

  for (const stepMs of [60_000, 600_000]) {
    it(`accepts no write again after the clock was ${stepMs / 1_000} s ahead, not even when the files are lost`, async () => {
      const startedMs = test.nowMs
      assert.equal(await test.write('1'), true)
      test.nowMs += stepMs
      for (let i = 0; i < 200; i++) assert.equal(await test.write(`9${i}`), true)
      test.nowMs = startedMs + 1
      for (const suffix of ['', '.old']) rmSync(test.file + suffix, { force: true })
      await test.restart()
      assert.equal(test.read('1', startedMs), false)
      const stored = test.opened.store.transaction(TEST_SCOPE, (sql) =>
        test.nonces.storeClaim(sql, CHAIN, AGENT, '1', startedMs),
      )
      assert.equal(await stored, false)
    })
  }

  it('refuses a write whose nonce another process committed', async () => {
    const key = [CHAIN, AGENT, '1', START_MS] as const
    await test.opened.store.transaction(TEST_SCOPE, (sql) =>
      sql.run('insert into nonces values ($1, $2, $3, $4)', ...key),
    )
    assert.equal(await test.write('1'), false)
  })

  it('stores a nonce again only when its last use has left the window', async () => {
    const store = (timestampMs: number): Promise<boolean> =>
      test.opened.store.transaction(TEST_SCOPE, (sql) => test.nonces.storeClaim(sql, CHAIN, AGENT, '1', timestampMs))
    assert.equal(await store(START_MS), true)
    test.nowMs = START_MS + REPLAY_WINDOW_MS
    assert.equal(await store(test.nowMs), false)
    test.nowMs += 1
    assert.equal(await store(START_MS), false)
    assert.equal(await store(test.nowMs), true)
  })

  it('reads a file whose last line was torn by a kill, and goes on behind it', async () => {
    assert.equal(test.read('1'), true)
    appendFileSync(test.file, `${START_MS} ${CHAIN} ${AGENT} 23`)
    await test.restart()
    assert.equal(test.read('1'), false)
    assert.equal(test.read('23'), true)
    await test.restart()
    assert.equal(test.read('23'), false)
  })

  it('reads around damage and is not stopped by times that can not be', async () => {
    assert.equal(test.read('1'), true)
    const damage = [
      '\0\0\0',
      'forgotten 9999999999999999',
      `9999999999999999 ${CHAIN} ${AGENT} 5`,
      '',
      'x'.repeat(9_999),
    ]
    appendFileSync(test.file, `${damage.join('\n')}\n${START_MS} ${CHAIN} ${AGENT} 2\n`)
    await test.restart()
    assert.equal(test.read('1'), false)
    assert.equal(test.read('2'), false)
    assert.equal(test.read('3'), true)
    assert.equal(test.nonces.size, 3)
  })

  it('forgets in memory, file and table what has expired', async () => {
    for (let i = 0; i < 600; i++) {
      test.nowMs += 1_000
      assert.equal(test.read(`1${i}`), true)
      assert.equal(await test.write(`2${i}`), true)
    }
    // One read and one write per second, each kept at most twice the 45 s that it is needed.
    assert.ok(test.nonces.size <= 2 * 92, String(test.nonces.size))
    // The table keeps a row for 165 s, and until the second prune after that, each after 64 claims.
    assert.ok((await storedNonces()) <= 165 + 2 * 64, String(await storedNonces()))
    const lines = ['', '.old'].map((suffix) => readFileSync(test.file + suffix, 'utf8').split('\n').length)
    assert.ok(lines[0]! + lines[1]! <= 2 * 92 + 4, String(lines))
  })

  it('shrinks the table again after a burst', async () => {
    await test.opened.store.transaction(TEST_SCOPE, async (sql) => {
      for (let i = 0; i < 1_000; i++) await test.nonces.storeClaim(sql, CHAIN, AGENT, `${i}`, test.nowMs + i)
    })
    test.nowMs += 600_000
    for (let i = 0; i < 160; i++) await test.write(`9${i}000`)
    assert.equal(await storedNonces(), 160)
  })

  it('claims nothing while the file can not be rotated, and goes on when it can', () => {
    assert.equal(test.read('1'), true)
    mkdirSync(`${test.file}.draft`)
    assert.throws(() => test.read('2'), StoreUnavailableError)
    rmdirSync(`${test.file}.draft`)
    assert.equal(test.read('2'), true)
    assert.equal(test.read('1'), false)
  })

  it('takes no claims once it is closed', async () => {
    test.nonces.close()
    test.nonces.close()
    assert.throws(() => test.read('1'), StoreUnavailableError)
    await assert.rejects(test.write('1'), StoreUnavailableError)
    assert.equal(statSync(test.file).size, 0)
  })

  it('says what to do when its file can not be used', async () => {
    const options = { store: test.opened.store, now: () => test.nowMs }
    for (const file of [`${test.file}/inside`, `${test.file}-absent/nonces.log`]) {
      await assert.rejects(openNonces({ ...options, file }), StartupError)
      await assert.rejects(openNonces({ ...options, file }), /set BEZEL_DATA/)
    }
  })
})

describe('nonces at their maximum', () => {
  it('refuse further requests instead of forgetting, until some have expired', async () => {
    const test = await openTestNonces(3)
    for (const nonce of ['1', '2', '3']) assert.equal(test.read(nonce), true)
    assert.throws(() => test.read('4'), StoreUnavailableError)
    await assert.rejects(test.write('4'), StoreUnavailableError)
    assert.equal(test.read('1'), false)
    test.nowMs += 60_000
    assert.equal(test.read('4'), true)
    assert.equal(test.read('5'), true)
    await test.remove()
  })
})
