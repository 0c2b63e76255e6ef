import process from 'node:process'
import { startPostgres } from '@bezel/testkit/startPostgres.ts'
import { installPostgres } from './installPostgres.ts'
import { runTests } from './tradingStories.ts'

// `npm run test:postgres` runs the tests of the service with every store on PostgreSQL, which it installs where it may,
// and the stories on PostgreSQL; then the tests of the service on SQLite with every transaction run twice. With
// arguments only the tests whose path contains one of them, on PostgreSQL.

const PARTS = ['packages/server/src/', 'e2e/postgres/']

process.exitCode = await main(process.argv.slice(2))

async function main(filters: readonly string[]): Promise<number> {
  const { programs, isNew } = installPostgres()
  console.log(`PostgreSQL: ${programs}${isNew ? ' (installed)' : ''}`)
  const server = await startPostgres()
  try {
    const code = await runTests(filters.length === 0 ? PARTS : filters, {
      TEST_DATABASE_URL: server.urlOf('postgres'),
    })
    if (code !== 0 || filters.length > 0) return code
    // Not on PostgreSQL, where the first run uses up ids that tests expect.
    return await runTests(PARTS.slice(0, 1), { TRANSACTIONS_TWICE: '1' })
  } finally {
    await server.remove()
  }
}
