import assert from 'node:assert/strict'
import { createServer, type AddressInfo } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { startProxy } from '@bezel/testkit/startProxy.ts'
import { startRedis, type RunningRedis } from '@bezel/testkit/startRedis.ts'
import { until } from '@bezel/testkit/until.ts'
import { installRedis } from '../../../../scripts/installRedis.ts'
import { inspectRedis, openRedisLink, RedisUnavailableError, redisScript, type RedisLink } from './redisLink.ts'
import { refusalsOf } from './testing/refusalsOf.ts'

const ECHO = redisScript('return ARGV[1]')

let redis: RunningRedis
before(async () => {
  installRedis()
  redis = await startRedis()
})
after(() => redis?.remove())

/** Waits until the link can be used, and returns the run of its server. */
const untilUp = (link: RedisLink): Promise<string> => until('Redis is used', () => link.run())

describe('the link to Redis', () => {
  it('runs commands and scripts, also after the server forgot its scripts', async () => {
    const link = await openRedisLink({ url: redis.urlOf() })
    assert.equal(await link.send('PING'), 'PONG')
    assert.equal(await link.evaluate(ECHO, ['1']), '1')
    await link.send('SCRIPT', 'FLUSH')
    assert.equal(await link.evaluate(ECHO, ['2']), '2')
    assert.deepEqual([link.problem(), link.downMs(), link.counts().failures], [undefined, 0, 0])
    await link.close()
    await assert.rejects(link.send('PING'), RedisUnavailableError)
  })

  it('opens without a server, says why, and uses one that comes later', async () => {
    await redis.stop()
    const problems: string[] = []
    const link = await openRedisLink({ url: redis.urlOf() }, { onDown: (problem) => problems.push(problem) })
    assert.equal(link.run(), undefined)
    assert.match(link.problem()!, /ECONNREFUSED/)
    assert.equal(problems.length, 1)
    await assert.rejects(link.send('PING'), RedisUnavailableError)
    await redis.start()
    await untilUp(link)
    assert.equal(await link.send('PING'), 'PONG')
    await link.close()
  })

  it('notices a server that hangs, fails what it asked, and comes back with the same run', async () => {
    const proxy = await startProxy(redis.port)
    const link = await openRedisLink({ url: redis.urlOf(proxy.port) })
    const run = link.run()
    proxy.hang()
    const asked = Array.from({ length: 5 }, () => link.send('PING'))
    for (const answer of await Promise.allSettled(asked)) assert.equal(answer.status, 'rejected')
    assert.match(link.problem()!, /does not answer/)
    proxy.resume()
    assert.equal(await untilUp(link), run)
    await link.close()
    await proxy.close()
  })

  it('notices a server that hangs while nothing is asked of it', async () => {
    const proxy = await startProxy(redis.port)
    const link = await openRedisLink({ url: redis.urlOf(proxy.port) })
    proxy.hang()
    await until('it is noticed', () => link.run() === undefined)
    proxy.resume()
    await untilUp(link)
    await link.close()
    await proxy.close()
  })

  it('tells a server that was restarted by its run', async () => {
    const link = await openRedisLink({ url: redis.urlOf() })
    const run = link.run()
    await redis.stop()
    await until('it is noticed', () => link.run() === undefined)
    await redis.start()
    assert.notEqual(await untilUp(link), run)
    await link.close()
  })

  it('gives up a server that refuses to write, until it takes writes again', async () => {
    const link = await openRedisLink({ url: redis.urlOf() })
    await redis.command('CONFIG', 'SET', 'maxmemory', '1')
    await assert.rejects(link.send('SET', 'bezel:test', '1'), RedisUnavailableError)
    await until('it is told', () => /OOM/.test(link.problem() ?? ''))
    assert.equal(link.run(), undefined)
    await redis.command('CONFIG', 'SET', 'maxmemory', '0')
    await untilUp(link)
    await link.close()
  })
})

describe('a Redis that has to be corrected is refused in one sentence:', () => {
  const refuse = async (url: string, sentence: RegExp): Promise<void> => {
    for (const error of await refusalsOf({ url })) assert.match(error.message, sentence)
  }

  for (const url of [
    '',
    'localhost',
    'localhost:6379',
    'http://localhost:6379',
    'redis://',
    'redis://h:1/x',
    'redis:h',
    'redis://:100%hidden@h:1',
    'redis://:12/hidden@h:1',
  ]) {
    it(`the address ${JSON.stringify(url)}`, () =>
      refuse(url, /^REDIS_URL is no address of a Redis server: write redis:\/\/.*\.$/))
  }

  it('an older version', async () => {
    const info = 'redis_version:6.2.14\r\nrun_id:abc\r\n'
    const old = createServer((socket) => socket.on('data', () => socket.write(`$${info.length}\r\n${info}\r\n`)))
    await new Promise<void>((listening) => old.listen(0, '127.0.0.1', listening))
    await refuse(
      `redis://127.0.0.1:${(old.address() as AddressInfo).port}`,
      /is version 6\.2\.14: use Redis 7 or newer/,
    )
    old.close()
  })

  it('a password that is wrong or missing, which is not repeated', async () => {
    const guarded = await startRedis('--requirepass', 'secret')
    const sentence = /^The Redis of REDIS_URL refuses user and password: correct them in REDIS_URL\.$/
    await refuse(`redis://127.0.0.1:${guarded.port}`, sentence)
    await refuse(`redis://:wrong@127.0.0.1:${guarded.port}`, sentence)
    await refuse(`redis://nobody:secret@127.0.0.1:${guarded.port}`, sentence)
    const link = await openRedisLink({ url: `redis://:secret@127.0.0.1:${guarded.port}` })
    assert.equal(await link.send('PING'), 'PONG')
    await link.close()
    await guarded.remove()
  })

  it('one that forgets keys when it is full', async () => {
    const evicting = await startRedis('--maxmemory', '100mb', '--maxmemory-policy', 'allkeys-lru')
    await refuse(evicting.urlOf(), /maxmemory-policy allkeys-lru.*: set maxmemory-policy to noeviction\.$/)
    await evicting.remove()
  })

  it('a user who may not do enough', async () => {
    await redis.command('ACL', 'SETUSER', 'reader', 'on', 'nopass', '~*', '+@read', '+info')
    await refuse(`redis://reader:x@127.0.0.1:${redis.port}`, /^The user of REDIS_URL may not do enough: give it/)
  })

  it('and one that is not there only by the check', async () => {
    await assert.rejects(
      inspectRedis({ url: 'redis://127.0.0.1:9' }),
      /can't be reached \(.*\): start it, or correct REDIS_URL\.$/,
    )
  })
})
