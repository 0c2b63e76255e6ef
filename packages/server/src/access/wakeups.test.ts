import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { startRedis, type RunningRedis } from '@bezel/testkit/startRedis.ts'
import { until } from '@bezel/testkit/until.ts'
import { installRedis } from '../../../../scripts/installRedis.ts'
import { openRedisLink, type RedisLink } from './redisLink.ts'
import { createRedisScripts } from './redisScripts.ts'
import { NO_WAKEUPS, openWakeups, type Wakeups } from './wakeups.ts'

describe('wake-ups', () => {
  let redis: RunningRedis
  let link: RedisLink
  const opened: Wakeups[] = []

  before(async () => {
    installRedis()
    redis = await startRedis()
    link = await openRedisLink({ url: redis.urlOf() })
  })
  after(async () => {
    for (const wakeups of opened) wakeups.close()
    await link?.close()
    await redis?.remove()
  })

  const open = (deployment: string): { readonly wakeups: Wakeups; readonly heard: string[] } => {
    const wakeups = openWakeups({ url: redis.urlOf() }, createRedisScripts(link, deployment))
    opened.push(wakeups)
    const heard: string[] = []
    wakeups.onWake((chain) => heard.push(chain))
    return { wakeups, heard }
  }

  it('reach every node of the deployment and no other, also after a restart, and may be lost meanwhile', async () => {
    const [a, b, other] = [open('one'), open('one'), open('two')]
    const wake = (): Promise<unknown> =>
      until('both are woken', () => {
        a.wakeups.publish('base')
        return a.heard.length > 0 && b.heard.length > 0
      })
    await wake()
    await redis.stop()
    await until('it is noticed', () => link.run() === undefined)
    a.wakeups.publish('base')
    a.heard.length = 0
    b.heard.length = 0
    await redis.start()
    await wake()
    await until('the other one listens', () => {
      other.wakeups.publish('arbitrum')
      return other.heard.length > 0
    })
    assert.deepEqual([...new Set([...a.heard, ...b.heard])], ['base'])
    assert.deepEqual([...new Set(other.heard)], ['arbitrum'])
  })

  it('are none without Redis', () => {
    NO_WAKEUPS.publish('base')
    NO_WAKEUPS.onWake(assert.fail)()
    NO_WAKEUPS.close()
  })
})
