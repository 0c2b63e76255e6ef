import { spawn } from 'node:child_process'
import process from 'node:process'
import { startPostgres } from '@bezel/testkit/startPostgres.ts'
import { startRedis } from '@bezel/testkit/startRedis.ts'
import { installPostgres } from './installPostgres.ts'
import { installRedis } from './installRedis.ts'

// `npm run test:cluster` runs the stories of trading, native, by the facade and by the stream, with every service as
// two nodes on one PostgreSQL and one Redis, behind a front that sends each request to another node
// (packages/testkit/src/cluster). With arguments only the stories whose path contains one of them.

const STORIES = [
  'e2e/accountEvents.test.ts',
  'e2e/accounting.test.ts',
  'e2e/agents.test.ts',
  'e2e/bookAndTrades.test.ts',
  'e2e/books.test.ts',
  'e2e/exactAllowance.test.ts',
  'e2e/firstTrade.test.ts',
  'e2e/flatten.test.ts',
  'e2e/notifications.test.ts',
  'e2e/orders.test.ts',
  'e2e/positionUpdates.test.ts',
  'e2e/restart.test.ts',
  'e2e/resume.test.ts',
  'e2e/sizes.test.ts',
  'e2e/stops.test.ts',
  'e2e/stream.test.ts',
  'e2e/facadeProtection.test.ts',
  'e2e/facade/ccxt.test.ts',
  'e2e/facade/clientMethods.test.ts',
  'e2e/facade/nktkas.test.ts',
  'e2e/facade/readOnly.test.ts',
  'e2e/facade/refusals.test.ts',
  'e2e/facade/wholePosition.test.ts',
]

process.exitCode = await main(process.argv.slice(2))

async function main(filters: readonly string[]): Promise<number> {
  const chosen = STORIES.filter((story) => filters.length === 0 || filters.some((filter) => story.includes(filter)))
  if (chosen.length === 0) {
    console.error(`No story has ${filters.join(' or ')} in its path. There are: ${STORIES.join(', ')}`)
    return 1
  }
  const { programs, isNew } = installPostgres()
  console.log(`PostgreSQL: ${programs}${isNew ? ' (installed)' : ''}`)
  installRedis()
  const [server, redis] = [await startPostgres(), await startRedis()]
  try {
    return await runStories(chosen, { TEST_CLUSTER: server.urlOf('postgres'), TEST_CLUSTER_REDIS: redis.urlOf() })
  } finally {
    await redis.remove()
    await server.remove()
  }
}

function runStories(stories: readonly string[], parts: Readonly<Record<string, string>>): Promise<number> {
  return new Promise((ended) => {
    const child = spawn(process.execPath, [new URL('test.ts', import.meta.url).pathname, ...stories], {
      stdio: 'inherit',
      env: { ...process.env, ...parts },
    })
    // The server is stopped after the stories, also when somebody ends the run.
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => child.kill(signal))
    child.once('exit', (code) => ended(code ?? 1))
  })
}
