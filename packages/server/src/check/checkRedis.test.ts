import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { StartupError } from '@bezel/protocol'
import { startPostgres, type RunningPostgres } from '@bezel/testkit/startPostgres.ts'
import { startRedis, type RunningRedis } from '@bezel/testkit/startRedis.ts'
import { installPostgres } from '../../../../scripts/installPostgres.ts'
import { installRedis } from '../../../../scripts/installRedis.ts'
import { checkRedis, judgeRedisClock } from './checkRedis.ts'

describe('the check of Redis', () => {
  let server: RunningPostgres
  let redis: RunningRedis
  before(async () => {
    installPostgres()
    installRedis()
    server = await startPostgres()
    redis = await startRedis()
  })
  after(async () => {
    await redis?.remove()
    await server?.remove()
  })

  const databaseOf = (url: string) => ({ url, connections: 2, statementMs: 60_000, idleTransactionMs: 60_000 })

  it('says nothing where none is named', async () => {
    assert.deepEqual(await checkRedis({ database: undefined, redis: undefined }), [])
    assert.deepEqual(await checkRedis({ database: databaseOf(server.urlOf('postgres')), redis: undefined }), [])
  })

  it('tells the version of one that can be used, also while the database can not', async () => {
    for (const url of [await server.createDatabase('checked'), 'postgresql://bezel@127.0.0.1:9/bezel']) {
      const [finding, ...others] = await checkRedis({ database: databaseOf(url), redis: { url: redis.urlOf() } })
      assert.deepEqual(others, [])
      assert.match(finding!.text, /^Redis \d+\.\d+\.\d+ can be used\.$/)
      assert.equal(finding!.mark, 'ok')
    }
  })

  it('is a failure for one without a database, or that is not there', async () => {
    const database = databaseOf(server.urlOf('postgres'))
    const lone = checkRedis({ database: undefined, redis: { url: redis.urlOf() } })
    await assert.rejects(
      lone,
      (error: Error) => error instanceof StartupError && /DATABASE_URL is not/.test(error.message),
    )
    const absent = checkRedis({ database, redis: { url: 'redis://127.0.0.1:9' } })
    await assert.rejects(
      absent,
      (error: Error) => error instanceof StartupError && /can't be reached/.test(error.message),
    )
  })

  it('warns of clocks that differ', () => {
    assert.deepEqual(judgeRedisClock(2_000), [])
    assert.deepEqual(judgeRedisClock(-2_000), [])
    assert.match(judgeRedisClock(2_500)[0]!.text, /^The clock of Redis is 2\.5 s ahead of that of PostgreSQL: set it/)
    assert.match(judgeRedisClock(-3_000)[0]!.text, /3 s behind that of PostgreSQL/)
  })
})
