import process from 'node:process'
import { startPostgres } from '@bezel/testkit/startPostgres.ts'
import { startRedis } from '@bezel/testkit/startRedis.ts'
import { installPostgres } from './installPostgres.ts'
import { installRedis } from './installRedis.ts'
import { runStories, TRADING_STORIES } from './tradingStories.ts'

// `npm run test:cluster` runs the stories of trading, native, by the facade and by the stream, with every service as
// two nodes on one PostgreSQL and one Redis, behind a front that sends each request to another node
// (packages/testkit/src/cluster). With arguments only the stories whose path contains one of them.

const STORIES = [...TRADING_STORIES, 'e2e/notifications.test.ts', 'e2e/stream.test.ts']

process.exitCode = await main(process.argv.slice(2))

async function main(filters: readonly string[]): Promise<number> {
  const { programs, isNew } = installPostgres()
  console.log(`PostgreSQL: ${programs}${isNew ? ' (installed)' : ''}`)
  installRedis()
  const [server, redis] = [await startPostgres(), await startRedis()]
  try {
    return await runStories(STORIES, filters, {
      TEST_CLUSTER: server.urlOf('postgres'),
      TEST_CLUSTER_REDIS: redis.urlOf(),
    })
  } finally {
    await redis.remove()
    await server.remove()
  }
}
