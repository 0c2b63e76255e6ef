import { createHash } from 'node:crypto'
import { join } from 'node:path'
import process from 'node:process'
import { Client } from 'pg'

// `TEST_CLUSTER` holds the address of a PostgreSQL server, and `TEST_CLUSTER_REDIS` that of a Redis: every service that
// a test starts then is two nodes behind a front, on a database of its own (npm run test:cluster).

/** The settings of each node. The second one has no relayer. */
const ROLES: readonly string[] = ['api,follower,relayer,keeper', 'api,follower,keeper']

/** A node to be started. */
export interface ClusterNode {
  readonly settings: Readonly<Record<string, string>>
  readonly isRelayer: boolean
}

/** True while tests run against several nodes. */
export function isCluster(): boolean {
  return process.env['TEST_CLUSTER'] !== undefined
}

/**
 * Returns the nodes of a service over a data folder. A service that is started again over the same folder finds its
 * database again.
 */
export async function clusterNodes(dataFolder: string): Promise<readonly ClusterNode[]> {
  const server = new URL(process.env['TEST_CLUSTER']!)
  const name = `story_${createHash('sha256').update(dataFolder).digest('hex').slice(0, 16)}`
  await createDatabase(server, name)
  const database = new URL(server)
  database.pathname = `/${name}`
  return ROLES.map((roles, at) => ({
    isRelayer: roles.includes('relayer'),
    settings: {
      DATABASE_URL: database.href,
      BEZEL_DATA: join(dataFolder, `node-${at}`),
      BEZEL_ROLES: roles,
      REDIS_URL: process.env['TEST_CLUSTER_REDIS']!,
      BEZEL_DATABASE_CONNECTIONS: '8',
    },
  }))
}

/** Code of PostgreSQL for a database that exists already. */
const DUPLICATE_DATABASE = '42P04'

async function createDatabase(server: URL, name: string): Promise<void> {
  const client = new Client({ connectionString: server.href })
  await client.connect()
  try {
    await client.query(`create database ${name}`)
  } catch (error) {
    if ((error as { readonly code?: string }).code !== DUPLICATE_DATABASE) throw error
  } finally {
    await client.end()
  }
}
