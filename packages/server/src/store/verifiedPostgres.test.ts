import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { StartupError } from '@bezel/protocol'
import { makeCertificates, type TestCertificates } from '@bezel/testkit/makeCertificates.ts'
import { startPostgres, type RunningPostgres } from '@bezel/testkit/startPostgres.ts'
import { installPostgres } from '../../../../scripts/installPostgres.ts'
import { openDatabase } from './openConfiguredStore.ts'
import type { Store } from './sql.ts'

const PASSWORD = 'open-sesame'
/** Rows of an answer that takes longer than a server may be silent, and the pause of the server before each. */
const SLOW_ROWS = 60
const ROW_PAUSE_SECONDS = 0.05

describe('a PostgreSQL that speaks TLS', () => {
  let certificates: TestCertificates
  let server: RunningPostgres

  before(async () => {
    installPostgres()
    certificates = makeCertificates()
    server = await startPostgres({ certificate: certificates.issue('server', 'DNS:localhost') })
    await server.createDatabase('bezel')
  })
  after(async () => {
    await server?.remove()
    certificates?.remove()
  })

  const open = (host: string, caFile?: string, mode = 'verify-full'): Promise<Store> =>
    openDatabase(
      {
        url: `postgresql://bezel:${PASSWORD}@${host}:${server.port}/bezel?sslmode=${mode}`,
        caFile,
        connections: 4,
        statementMs: 10_000,
        idleTransactionMs: 10_000,
      },
      async () => undefined,
    )
  const isEncrypted = async (store: Store): Promise<boolean> => {
    const row = await store.read.get<{ ssl: bigint }>('select ssl from pg_stat_ssl where pid = pg_backend_pid()')
    return row!.ssl === 1n
  }
  const isRefused = (opening: Promise<Store>, reason: RegExp): Promise<void> =>
    assert.rejects(opening, (error: Error) => {
      assert.ok(error instanceof StartupError, String(error))
      assert.match(error.message, /^The certificate of PostgreSQL at .* is not the one of that server \(.*\): .*\.$/)
      assert.match(error.message, reason)
      assert.ok(!error.message.includes(PASSWORD))
      return true
    })

  it('is used when the right authority signed its certificate', async () => {
    const store = await open('localhost', certificates.ca)
    assert.equal(await isEncrypted(store), true)
    const inTransaction = await store.transaction({ name: 'schema' }, (sql) =>
      sql.get<{ ssl: bigint }>('select ssl from pg_stat_ssl where pid = pg_backend_pid()'),
    )
    assert.equal(inTransaction!.ssl, 1n)
    await store.close()
  })

  it('is not taken for silent while a long answer arrives', async () => {
    const store = await open('localhost', certificates.ca)
    const rows = await store.read.all(
      `select pg_sleep($1), repeat('x', 9000) as text from generate_series(1, $2::int)`,
      ROW_PAUSE_SECONDS,
      SLOW_ROWS,
    )
    assert.equal(rows.length, SLOW_ROWS)
    await store.close()
  })

  it('is refused when another authority, or none that is known, signed its certificate', async () => {
    await isRefused(open('localhost', certificates.otherCa), /certificate/)
    await isRefused(open('localhost'), /certificate/)
  })

  it('is refused when its certificate names another host', async () => {
    await isRefused(open('127.0.0.1', certificates.ca), /does not match certificate's altnames/)
  })

  it('is spoken to in plain text on this machine only when the address says so', async () => {
    const store = await open('127.0.0.1', undefined, 'disable')
    assert.equal(await isEncrypted(store), false)
    await store.close()
  })
})

it('a PostgreSQL without TLS is refused where TLS is asked for', async () => {
  const server = await startPostgres()
  try {
    const url = `postgresql://bezel:${PASSWORD}@127.0.0.1:${server.port}/postgres?sslmode=verify-full`
    const settings = { url, connections: 2, statementMs: 10_000, idleTransactionMs: 10_000 }
    await assert.rejects(
      openDatabase(settings, async () => undefined),
      /^StartupError: PostgreSQL at 127\.0\.0\.1:\d+ can't be used \(The server does not support SSL connections\): /,
    )
  } finally {
    await server.remove()
  }
})
