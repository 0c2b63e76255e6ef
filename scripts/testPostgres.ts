import process from 'node:process'
import { startPostgres } from '@bezel/testkit/startPostgres.ts'
import { installPostgres } from './installPostgres.ts'
import { runTests } from './tradingStories.ts'

// `npm run test:postgres` runs the tests of the service with every store on PostgreSQL, which it installs where it may,
// and the stories on PostgreSQL. With arguments only the tests whose path contains one of them.

const PARTS = ['packages/server/src/', 'e2e/postgres/']

process.exitCode = await main(process.argv.slice(2))

async function main(filters: readonly string[]): Promise<number> {
  const { programs, isNew } = installPostgres()
  console.log(`PostgreSQL: ${programs}${isNew ? ' (installed)' : ''}`)
  const server = await startPostgres()
  try {
    return await runTests(filters.length === 0 ? PARTS : filters, {
      TEST_DATABASE_URL: server.urlOf('postgres'),
    })
  } finally {
    await server.remove()
  }
}
