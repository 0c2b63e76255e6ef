import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { findPostgres, type RunningPostgres } from '@bezel/testkit/startPostgres.ts'
import { startOperator } from './usedDeployment.ts'

const GRANTS = fileURLToPath(new URL('../../deploy/grants.sql', import.meta.url))
const USERS = ['bezel_migrate', 'bezel_serve', 'bezel_read'] as const

/** Returns the address of a database for one of the users of deploy/grants.sql, also through a proxy. */
export function addressFor(
  user: (typeof USERS)[number],
  server: RunningPostgres,
  database: string,
  port?: number,
): string {
  const address = new URL(server.urlOf(database, port))
  address.username = user
  return address.href
}

/** Prepares an empty database as the guide says: users, `bezel-server migrate` as the owner, and the grants. */
export async function giveRights(server: RunningPostgres, database: string, dataFolder: string): Promise<void> {
  for (const user of USERS) await server.psql('postgres', `create role ${user} login`)
  await server.psql('postgres', `alter database ${database} owner to bezel_migrate`)
  const url = addressFor('bezel_migrate', server, database)
  const { code, out, err } = await startOperator({ DATABASE_URL: url, BEZEL_DATA: dataFolder }, 'migrate').ended
  assert.equal(code, 0, err)
  assert.match(out, /^The schema in the database of DATABASE_URL is up to date \(\d+\)\.$/m)
  await promisify(execFile)(join(findPostgres()!, 'psql'), ['-X', '-q', '-f', GRANTS, '-d', url])
}
