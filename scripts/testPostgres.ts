import { spawn } from 'node:child_process'
import process from 'node:process'
import { startPostgres } from '@bezel/testkit/startPostgres.ts'
import { installPostgres } from './installPostgres.ts'

// `npm run test:postgres` runs the tests of the service with every store on PostgreSQL, which it installs where it may,
// and the stories on PostgreSQL. With arguments only the tests whose path contains one of them.

const PARTS = ['packages/server/src/', 'e2e/postgres/']

process.exitCode = await main(process.argv.slice(2))

async function main(filters: readonly string[]): Promise<number> {
  const { programs, isNew } = installPostgres()
  console.log(`PostgreSQL: ${programs}${isNew ? ' (installed)' : ''}`)
  const server = await startPostgres()
  try {
    return await runTests(filters.length === 0 ? PARTS : filters, server.urlOf('postgres'))
  } finally {
    await server.remove()
  }
}

function runTests(filters: readonly string[], url: string): Promise<number> {
  return new Promise((ended) => {
    const child = spawn(process.execPath, [new URL('test.ts', import.meta.url).pathname, ...filters], {
      stdio: 'inherit',
      env: { ...process.env, TEST_DATABASE_URL: url },
    })
    // The server is stopped after the tests, also when somebody ends the run.
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => child.kill(signal))
    child.once('exit', (code) => ended(code ?? 1))
  })
}
