import assert from 'node:assert/strict'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { StartupError } from '@bezel/protocol'
import { readServerConfig } from './config.ts'
import { readDataPlace } from './dataPlace.ts'

const DATABASE = 'postgresql://bezel:hunter2@db.example:5432/bezel'
const REDIS = 'redis://bezel:hunter2@redis.example:6379/0'

describe('a secret in a file', () => {
  const folder = mkdtempSync(join(tmpdir(), 'bezel-secrets-'))
  after(() => rmSync(folder, { recursive: true, force: true }))

  function fileOf(text: string, mode = 0o600): string {
    const path = join(folder, `${text.length}-${mode.toString(8)}`)
    writeFileSync(path, text)
    chmodSync(path, mode)
    return path
  }

  function refusal(env: Readonly<Record<string, string>>): string {
    try {
      readServerConfig(env)
    } catch (error) {
      assert.ok(error instanceof StartupError)
      assert.doesNotMatch(error.message, /hunter2/)
      return error.message
    }
    return assert.fail('it was taken')
  }

  it('is the address of the database and of Redis, for the service and for commands', () => {
    const env = { DATABASE_URL_FILE: fileOf(`${DATABASE}\n`), REDIS_URL_FILE: fileOf(REDIS, 0o400) }
    const { database, redis } = readServerConfig(env)
    assert.deepEqual([database?.url, redis?.url], [DATABASE, REDIS])
    assert.equal(readDataPlace(env).database?.url, DATABASE)
    assert.equal(readServerConfig({ DATABASE_URL_FILE: '', DATABASE_URL: DATABASE }).database?.url, DATABASE)
  })

  it('is refused in one sentence where others can read it, it is missing, empty or told twice', () => {
    const file = fileOf(DATABASE)
    assert.match(refusal({ DATABASE_URL_FILE: fileOf(DATABASE, 0o640) }), /has mode 0640, .* chmod 600/)
    assert.match(refusal({ REDIS_URL_FILE: join(folder, 'none') }), /can't be read \(ENOENT\): correct REDIS_URL_FILE/)
    assert.match(refusal({ DATABASE_URL_FILE: fileOf('\n') }), /is empty/)
    assert.match(refusal({ DATABASE_URL_FILE: fileOf('x'.repeat(3_000)) }), /holds more than an address/)
    assert.match(
      refusal({ DATABASE_URL_FILE: file, DATABASE_URL: DATABASE }),
      /Both DATABASE_URL and DATABASE_URL_FILE/,
    )
  })
})
