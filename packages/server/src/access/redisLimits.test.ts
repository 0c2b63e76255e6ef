import assert from 'node:assert/strict'
import { after, afterEach, before, beforeEach, describe, it } from 'node:test'
import { startRedis, type RunningRedis } from '@bezel/testkit/startRedis.ts'
import { until } from '@bezel/testkit/until.ts'
import { installRedis } from '../../../../scripts/installRedis.ts'
import { ipBuckets, type LimitAnswer, type LimitBucket } from './limits.ts'
import { createRedisLimits, type RedisLimits } from './redisLimits.ts'
import { openRedisLink, type RedisLink } from './redisLink.ts'
import { createRedisScripts, nonceName } from './redisScripts.ts'

/** Longest life of a key. */
const MAX_LIFE_MS = 3_600_000
const MAX_KEY_BYTES = 48
const AGENT: LimitBucket = { scope: 'agent', key: 'base 0xa', limit: 10 }
const WRITES: LimitBucket = { scope: 'agent-writes', key: 'base 0xa', limit: 4 }

let redis: RunningRedis
before(async () => {
  installRedis()
  redis = await startRedis()
})
after(() => redis?.remove())

describe('limits that nodes share by Redis', () => {
  let links: readonly RedisLink[]
  let nodes: readonly RedisLimits[]
  let live = 2
  /** A time that no window of the test leaves: the server's clock decides for agents, and this one for IPs. */
  let nowMs: number

  beforeEach(async () => {
    nowMs = await startOfWindow()
    await redis.command('FLUSHALL')
    live = 2
    links = await Promise.all([openRedisLink({ url: redis.urlOf() }), openRedisLink({ url: redis.urlOf() })])
    nodes = links.map((link) => limitsOver(link))
  })
  afterEach(async () => {
    await Promise.all(nodes.map((limits) => limits.close()))
    await Promise.all(links.map((link) => link.close()))
  })

  const limitsOver = (link: RedisLink, deployment = 'test', name = 'requests'): RedisLimits =>
    createRedisLimits({ scripts: createRedisScripts(link, deployment), name, liveNodes: () => live, now: Date.now })

  const takeOf = async (at: number, buckets: readonly LimitBucket[], weight?: number): Promise<LimitAnswer> =>
    nodes[at % nodes.length]!.take(buckets, nowMs, weight)

  it('allow an agent exactly its limit, whichever node it asks', async () => {
    const answers = await Promise.all(Array.from({ length: 30 }, (_, at) => takeOf(at, [AGENT])))
    assert.equal(answers.filter(({ isAllowed }) => isAllowed).length, AGENT.limit)
    const refused = answers.find(({ isAllowed }) => !isAllowed)!
    assert.deepEqual([refused.scope, refused.limit, refused.remaining], ['agent', 10, 0])
    assert.ok(refused.resetSeconds >= 1 && refused.resetSeconds <= 60)
  })

  it('charge all buckets or none', async () => {
    const answers = []
    for (let at = 0; at < 6; at++) answers.push(await takeOf(at, [AGENT, WRITES]))
    assert.deepEqual(
      answers.map(({ isAllowed, scope, remaining }) => [isAllowed, scope, remaining]),
      [3, 2, 1, 0, 0, 0].map((remaining, at) => [at < 4, 'agent-writes', remaining]),
    )
    assert.equal((await takeOf(0, [AGENT])).remaining, 5)
    assert.equal((await takeOf(1, [AGENT], 6)).isAllowed, false)
    assert.equal((await takeOf(1, [AGENT], 5)).remaining, 0)
  })

  it('allow an IP exactly its limit where requests follow each other, and ask Redis for the last quarter only', async () => {
    const buckets = ipBuckets('192.0.2.1', 100)
    let allowed = 0
    const requestsBefore = links.map((link) => link.counts().requests)
    for (let at = 0; at < 140; at++) {
      if ((await takeOf(at, buckets)).isAllowed) allowed += 1
      // Counts are reported every 20 ms, which are ten requests here.
      if (at < 100 && at % 10 === 9) await reported(buckets, at + 1)
    }
    assert.equal(allowed, 100)
    const asked = links.reduce((sum, link, at) => sum + link.counts().requests - requestsBefore[at]!, 0)
    assert.ok(asked >= 20 && asked < 100, String(asked))
  })

  /** Waits until all nodes have told Redis what an IP used. */
  const reported = (buckets: readonly LimitBucket[], used: number): Promise<unknown> =>
    until('it is reported', async () => {
      const scripts = createRedisScripts(links[0]!, 'test')
      const named = buckets.map((bucket) => ({ ...bucket, key: `requests ${bucket.key}` }))
      return (await scripts.admit({ buckets: named, weight: 0 })).used[0] === used
    })

  it('refuse an IP that is over its limit without a trip', async () => {
    const buckets = ipBuckets('192.0.2.2', 8)
    while ((await takeOf(0, buckets)).isAllowed);
    const requestsBefore = links[0]!.counts().requests
    const take = (): LimitAnswer | Promise<LimitAnswer> => nodes[0]!.take(buckets, nowMs)
    const answers = Array.from({ length: 1_000 }, take)
    assert.ok(answers.every((answer) => !(answer instanceof Promise) && !answer.isAllowed))
    assert.equal(links[0]!.counts().requests, requestsBefore)
  })

  it('keep names and deployments apart', async () => {
    const others = [limitsOver(links[0]!, 'other'), limitsOver(links[0]!, 'test', 'registrations')]
    while ((await takeOf(0, [WRITES])).isAllowed);
    for (const other of others) {
      assert.equal((await other.take([WRITES], nowMs)).remaining, WRITES.limit - 1)
      await other.close()
    }
  })

  it('allow each node its part while Redis is away, and go on with Redis after it', async () => {
    await redis.stop()
    await until('both know', () => links.every((link) => link.run() === undefined))
    for (const [nodesAlive, fitting] of [
      [2, 2],
      [3, 2],
      [1, 4],
    ] as const) {
      live = nodesAlive
      const bucket = { ...WRITES, key: `away ${nodesAlive}` }
      let allowed = 0
      while ((await takeOf(0, [bucket])).isAllowed) allowed += 1
      assert.equal(allowed, fitting)
    }
    await redis.start()
    await until('both are back', () => links.every((link) => link.run() !== undefined))
    assert.equal((await takeOf(1, [WRITES])).remaining, WRITES.limit - 1)
  })

  it('answer a request during which Redis hangs', async () => {
    redis.pause()
    const answers = await Promise.all([takeOf(0, [WRITES]), takeOf(0, [WRITES]), takeOf(0, [WRITES])])
    redis.resume()
    assert.deepEqual(
      answers.map(({ isAllowed }) => isAllowed),
      [true, true, false],
    )
  })

  it('leave only short keys that end by themselves, however many networks ask', async () => {
    const scripts = createRedisScripts(links[0]!, 'test')
    await scripts.adopt('run', 'run.epoch')
    const nonce = { name: nonceName({ chain: 'base', agent: '0xa', nonce: '9'.repeat(78) }), epoch: 'run.epoch' }
    const { nonce: outcome } = await scripts.admit({ buckets: [AGENT], weight: 1, nonce })
    assert.equal(outcome, 'free')
    const ipv6 = (at: number): string => `2001:db8:${(at >> 8).toString(16)}:${(at & 255).toString(16)}::/64`
    for (let at = 0; at < 30_000; at++) await takeOf(0, ipBuckets(ipv6(at), 600))
    const keysNow = async (): Promise<string[]> => (await links[0]!.send('KEYS', '*')) as string[]
    await until('all is reported', async (saw) => {
      const { length } = await keysNow()
      saw(length)
      return length >= 20_000
    })
    const keys = await keysNow()
    assert.ok(keys.length <= 20_100, String(keys.length))
    assert.deepEqual(
      keys.filter((key) => Buffer.byteLength(key) > MAX_KEY_BYTES),
      [],
    )
    const lives: number[] = []
    // One after the other: an answer to thousands at once comes later than the link waits on a slow machine.
    for (const key of keys) lives.push((await links[0]!.send('PTTL', key)) as number)
    assert.deepEqual(
      lives.filter((life) => life === -1 || life > MAX_LIFE_MS),
      [],
    )
  })

  it('tell of a nonce that it was used, and that its epoch is gone', async () => {
    const scripts = createRedisScripts(links[0]!, 'test')
    const epoch = await scripts.adopt('run', 'run.1')
    assert.deepEqual([epoch, await scripts.adopt('run', 'run.2')], ['run.1', 'run.1'])
    const claim = async (of: string) =>
      (await scripts.admit({ buckets: [], weight: 0, nonce: { name: 'x', epoch: of } })).nonce
    assert.deepEqual([await claim('run.1'), await claim('run.1'), await claim('run.0')], ['free', 'used', 'lost'])
    assert.equal(await scripts.renew(), true)
    assert.equal(await scripts.adopt('later', 'later.1'), 'later.1')
    assert.equal(await claim('run.1'), 'lost')
    await redis.command('FLUSHALL')
    assert.deepEqual([await claim('later.1'), await scripts.renew()], ['lost', false])
  })

  it('use up no nonce of a request over its limit', async () => {
    const scripts = createRedisScripts(links[0]!, 'test')
    const nonce = { name: 'x', epoch: await scripts.adopt('run', 'run.1') }
    while ((await scripts.admit({ buckets: [WRITES], weight: 1 })).isAllowed);
    assert.equal((await scripts.admit({ buckets: [WRITES], weight: 1, nonce })).isAllowed, false)
    assert.equal((await scripts.admit({ buckets: [], weight: 0, nonce })).nonce, 'free')
  })
})

/** Seconds of a window that a test may need. */
const TEST_SECONDS = 20

/** Waits for a moment of the clock that leaves the test enough of its window, and returns it. */
async function startOfWindow(): Promise<number> {
  await until('the window is young', () => new Date().getSeconds() < 60 - TEST_SECONDS)
  return Date.now()
}
