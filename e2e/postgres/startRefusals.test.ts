import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { text } from 'node:stream/consumers'
import { after, before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { CHAINS } from '@bezel/protocol'
import { secretsIn, secretsOfSettings } from '@bezel/testkit/scanOutput.ts'
import { healthyAnswer, startStandInNode, type StandInNode } from '@bezel/testkit/standInNode.ts'
import { startPostgres, type RunningPostgres } from '@bezel/testkit/startPostgres.ts'
import { shiftedClock } from '@bezel/testkit/shiftedClock.ts'
import { startStatementPooler, type StatementPooler } from '@bezel/testkit/startStatementPooler.ts'
import { installPostgres } from '../../scripts/installPostgres.ts'

const MAIN = fileURLToPath(new URL('../../packages/server/src/main.ts', import.meta.url))

/** The databases, and Redis servers, that a service refuses, and the sentence that says what to do. */
const REFUSED: readonly {
  readonly name: string
  readonly sentence: RegExp
  /** Address of a Redis. */
  readonly redis?: string
  /** Time by which the clock of the service is ahead. */
  readonly clockAheadMs?: number
  /** Returns the address of the database; `undefined` for SQLite. */
  address(server: RunningPostgres, pooler: StatementPooler): Promise<string> | string | undefined
}[] = [
  {
    name: 'no address of a database',
    sentence: /^DATABASE_URL is no address of a PostgreSQL database: write postgresql:\/\/.*\.$/,
    address: () => 'localhost/bezel',
  },
  {
    name: 'a database that is not there',
    sentence: /^There is no database nowhere at .*: create it with createdb .*, or correct DATABASE_URL\.$/,
    address: (server) => server.urlOf('nowhere'),
  },
  {
    name: 'a server that is not there',
    sentence: /^PostgreSQL at 127\.0\.0\.1:9 can't be used \(.*\): start it, or correct DATABASE_URL\.$/,
    address: () => 'postgresql://bezel:a%2Fhidden-word@127.0.0.1:9/bezel',
  },
  {
    name: 'a password that is wrong',
    sentence: /^PostgreSQL at 127\.0\.0\.1:\d+ refuses the user guarded of DATABASE_URL \(.*\): correct it\.$/,
    async address(server) {
      await server.psql('postgres', "create role guarded login password 'another'")
      const file = (await server.psql('postgres', 'show hba_file')).trim()
      writeFileSync(file, `host all guarded 127.0.0.1/32 scram-sha-256\n${readFileSync(file, 'utf8')}`)
      await server.psql('postgres', 'select pg_reload_conf()')
      return `postgresql://guarded:hidden-word@127.0.0.1:${server.port}/postgres`
    },
  },
  {
    name: 'a database on another machine without TLS',
    sentence:
      /^PostgreSQL at db\.invalid is on another machine, and DATABASE_URL asks for no verified TLS: (?!.*sesame).*\.$/,
    address: () => 'postgresql://bezel:sesame@db.invalid/bezel',
  },
  {
    name: 'a Redis on another machine without TLS',
    sentence: /^Redis at redis\.invalid is on another machine, and REDIS_URL asks for no TLS: (?!.*sesame).*\.$/,
    redis: 'redis://:sesame@redis.invalid:6379',
    address: (server) => server.createDatabase('plain_redis'),
  },
  {
    name: 'a user without rights',
    sentence:
      /^The user reader of DATABASE_URL may not create tables in the database rights, .*: run bezel-server migrate .*\.$/,
    async address(server) {
      await server.createDatabase('rights')
      await server.psql('rights', 'create role reader login')
      return `postgresql://reader@127.0.0.1:${server.port}/rights`
    },
  },
  {
    name: 'a database of a newer version',
    sentence:
      /^The data was last used by a newer Bezel \(schema 999, .*\): start that version, or set DATABASE_URL to .*\.$/,
    async address(server) {
      const url = await server.createDatabase('newer')
      await server.psql('newer', 'create table schema_version (version bigint not null)')
      await server.psql('newer', 'insert into schema_version values (999)')
      return url
    },
  },
  {
    name: 'a pooler in statement mode',
    sentence:
      /^The pooler of DATABASE_URL gives every statement another session: set it to pool transactions or sessions\.$/,
    async address(server, pooler) {
      await server.createDatabase('pooled')
      return server.urlOf('pooled', pooler.port)
    },
  },
  ...[5_000, -5_000].map((clockAheadMs) => ({
    name: `a clock that is 5 s ${clockAheadMs > 0 ? 'ahead of' : 'behind'} the database's`,
    // As far as the time of the trip to the database, which a busy machine makes long, does not explain it.
    sentence:
      /^This machine's clock is (?:5\.0|[2-4]\.\d) s (?:ahead of|behind) that of PostgreSQL, and .*: set .* NTP, .*\.$/,
    clockAheadMs,
    address: (server: RunningPostgres) => server.createDatabase(clockAheadMs > 0 ? 'ahead' : 'behind'),
  })),
  {
    name: 'a Redis without a database',
    sentence: /^REDIS_URL is set and DATABASE_URL is not: .* Set DATABASE_URL, or leave out REDIS_URL\.$/,
    redis: 'redis://127.0.0.1:9',
    address: () => undefined,
  },
  {
    name: 'no address of a Redis',
    sentence: /^REDIS_URL is no address of a Redis server: write redis:\/\/.*\.$/,
    redis: ':hidden-word@localhost:6379',
    address: (server) => server.createDatabase('wrong_redis'),
  },
]

describe('a service refuses to start, in one sentence and with exit code 1, on', () => {
  const folder = mkdtempSync(join(tmpdir(), 'bezel-refused-'))
  let server: RunningPostgres
  let pooler: StatementPooler
  let node: StandInNode
  before(async () => {
    installPostgres()
    server = await startPostgres()
    pooler = await startStatementPooler(server.port)
    node = await startStandInNode(healthyAnswer(8453))
    const chains = { base: { chainId: 8453, rpcUrl: node.url, diamond: CHAINS.base.liveDiamond } }
    writeFileSync(join(folder, 'chains.json'), JSON.stringify({ chains, feedUrl: 'http://127.0.0.1:1' }))
  })
  after(async () => {
    await node?.close()
    await pooler?.close()
    await server?.remove()
    rmSync(folder, { recursive: true, force: true })
  })

  for (const { name, sentence, redis, clockAheadMs, address } of REFUSED) {
    it(name, async () => {
      const database = await address(server, pooler)
      const child = spawn(process.execPath, [MAIN], {
        stdio: ['ignore', 'ignore', 'pipe'],
        env: {
          PATH: process.env['PATH'],
          NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
          PORT: '0',
          LOG_LEVEL: 'silent',
          BEZEL_DOMAIN_NAME: 'Test API',
          BEZEL_DATA: folder,
          BEZEL_CHAINS_FILE: join(folder, 'chains.json'),
          ...(database === undefined ? {} : { DATABASE_URL: database }),
          ...(redis === undefined ? {} : { REDIS_URL: redis }),
          ...(clockAheadMs === undefined ? {} : shiftedClock({ aheadMs: clockAheadMs })),
        },
      })
      const [said, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')])
      const lines = said.trim().split('\n')
      assert.equal(lines.length, 1, said)
      assert.match(lines[0]!, sentence)
      const urls = { DATABASE_URL: database, REDIS_URL: redis }
      assert.deepEqual(secretsIn(said.replaceAll('user:password@host', ''), secretsOfSettings(urls)), [])
      assert.doesNotMatch(said, /hidden-word/)
      assert.equal(code, 1)
    })
  }
})
