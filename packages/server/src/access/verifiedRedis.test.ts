import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { lastingPort } from '@bezel/testkit/lastingPort.ts'
import { makeCertificates, type TestCertificates } from '@bezel/testkit/makeCertificates.ts'
import { startRedis, type RunningRedis } from '@bezel/testkit/startRedis.ts'
import { until } from '@bezel/testkit/until.ts'
import { installRedis } from '../../../../scripts/installRedis.ts'
import { inspectRedis, openRedisLink } from './redisLink.ts'
import { createRedisScripts } from './redisScripts.ts'
import { refusalsOf } from './testing/refusalsOf.ts'
import { openWakeups } from './wakeups.ts'

const PASSWORD = 'open-sesame'

describe('a Redis that speaks TLS', () => {
  let certificates: TestCertificates
  let redis: RunningRedis
  let tlsPort: number

  before(async () => {
    installRedis()
    certificates = makeCertificates()
    const { cert, key } = certificates.issue('server', 'DNS:localhost')
    tlsPort = await lastingPort()
    const authentication = [
      '--tls-ca-cert-file',
      certificates.ca,
      '--tls-auth-clients',
      'no',
      '--requirepass',
      PASSWORD,
    ]
    const files = ['--tls-cert-file', cert, '--tls-key-file', key]
    redis = await startRedis('--tls-port', `${tlsPort}`, ...files, ...authentication)
  })
  after(async () => {
    await redis?.remove()
    certificates?.remove()
  })

  const at = (host: string): string => `rediss://:${PASSWORD}@${host}:${tlsPort}`
  const isRefused = async (host: string, caFile: string | undefined, reason: RegExp): Promise<void> => {
    for (const { message } of await refusalsOf({ url: at(host), caFile })) {
      assert.match(message, /^The certificate of the Redis of REDIS_URL is not the one of that server \(.*\): /)
      assert.match(message, reason)
      assert.ok(!message.includes(PASSWORD))
    }
  }

  it('is used when the right authority signed its certificate, for wake-ups too', async () => {
    const place = { url: at('localhost'), caFile: certificates.ca }
    assert.match((await inspectRedis(place)).version, /^\d/)
    const link = await openRedisLink(place)
    assert.equal(await link.send('PING'), 'PONG')
    const wakeups = openWakeups(place, createRedisScripts(link, 'test'))
    const woken: string[] = []
    wakeups.onWake((chain) => woken.push(chain))
    await until('a wake-up arrives', async () => {
      wakeups.publish('base')
      return woken.includes('base')
    })
    wakeups.close()
    await link.close()
  })

  it('is refused when another authority, or none that is known, signed its certificate', async () => {
    await isRefused('localhost', certificates.otherCa, /certificate/)
    await isRefused('localhost', undefined, /certificate/)
  })

  it('is refused when its certificate names another host', async () => {
    await isRefused('127.0.0.1', certificates.ca, /does not match certificate's altnames/)
  })
})
