import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { StartupError } from '@bezel/protocol'
import { postgresTargetOf, redisTlsOf } from './dataConnections.ts'

const folder = mkdtempSync(join(tmpdir(), 'bezel-trust-'))
const PEM = '-----BEGIN CERTIFICATE-----\nMII=\n-----END CERTIFICATE-----\n'
const [CA, KEY, NOTHING] = ['ca.pem', 'client.key', 'nothing.pem'].map((name) => join(folder, name))
writeFileSync(CA!, PEM)
writeFileSync(KEY!, '-----BEGIN PRIVATE KEY-----\nMII=\n-----END PRIVATE KEY-----\n')
writeFileSync(NOTHING!, 'hello')
after(() => rmSync(folder, { recursive: true, force: true }))

/** A password that no sentence may repeat. */
const PASSWORD = 'open-sesame'

function refused(step: () => unknown, sentence: RegExp): void {
  assert.throws(step, (error: Error) => {
    assert.ok(error instanceof StartupError, String(error))
    assert.match(error.message, sentence)
    assert.ok(!error.message.includes(PASSWORD))
    return true
  })
}

describe('the way to PostgreSQL', () => {
  const at = (place: string): string => `postgresql://bezel:${PASSWORD}@${place}`

  for (const place of [
    'localhost/bezel',
    '127.0.0.1:5432/bezel',
    '127.8.9.10/bezel',
    '[::1]:5432/bezel',
    'localhost/bezel?sslmode=disable',
    'db.example/bezel?host=/var/run/postgresql',
    '%2Fvar%2Frun%2Fpostgresql/bezel',
  ]) {
    it(`needs no TLS on this machine: ${place}`, () => {
      assert.equal(postgresTargetOf({ url: at(place) }).ssl, false)
    })
  }

  for (const place of [
    'db.example/bezel',
    'db.example/bezel?sslmode=disable',
    '10.0.0.7:5432/bezel',
    '[fd00::7]/bezel',
    'localhost.example/bezel',
    '127.0.0.1.example/bezel',
    '0.0.0.0/bezel',
    // The driver connects to the host that is named last.
    '127.0.0.1/bezel?host=db.example',
    '127.0.0.1/bezel?host=127.0.0.1&host=db.example',
    'db.example/bezel?host=127.0.0.1&host=',
  ]) {
    it(`is refused elsewhere without TLS, unless the operator allows it: ${place}`, () => {
      refused(() => postgresTargetOf({ url: at(place) }), /is on another machine, .*: add sslmode=verify-full .*\.$/)
      assert.equal(postgresTargetOf({ url: at(place), isPlainAllowed: true }).ssl, false)
    })
  }

  it('is this machine where an address has no host, whatever the environment says', () => {
    assert.equal(new URL(postgresTargetOf({ url: 'postgresql:///bezel' }).url).searchParams.get('host'), 'localhost')
  })

  for (const mode of ['allow', 'prefer', 'require', 'verify-ca', 'no-verify', 'VERIFY-FULL', '']) {
    it(`is refused with sslmode=${mode}, which does not verify the name, also where plain text is allowed`, () => {
      const url = at(`db.example/bezel?sslmode=${mode}`)
      for (const isPlainAllowed of [false, true]) {
        refused(
          () => postgresTargetOf({ url, isPlainAllowed }),
          /^sslmode=.* does not make sure whom it talks to: .*\.$/,
        )
      }
    })
  }

  for (const parameter of ['ssl=true', 'ssl=no-verify', 'sslnegotiation=direct', 'uselibpqcompat=true']) {
    it(`is refused with ${parameter}, which the driver would follow instead`, () => {
      const url = at(`localhost/bezel?sslmode=verify-full&${parameter}`)
      refused(() => postgresTargetOf({ url }), /^DATABASE_URL has the parameter \w+, which is not known here: .*\.$/)
    })
  }

  it('verifies the server with sslmode=verify-full, by an authority of the operator or those that node knows', () => {
    const url = at('db.example:5432/bezel?sslmode=verify-full&application_name=x')
    const known = postgresTargetOf({ url })
    assert.deepEqual(known.ssl, { rejectUnauthorized: true, servername: 'db.example' })
    assert.equal(known.url, at('db.example:5432/bezel?application_name=x'))
    const own = { rejectUnauthorized: true, servername: 'db.example', ca: PEM }
    assert.deepEqual(postgresTargetOf({ url, caFile: CA }).ssl, own)
    assert.deepEqual(postgresTargetOf({ url: `${url}&sslrootcert=${CA}` }).ssl, own)
    assert.deepEqual(postgresTargetOf({ url: `${url}&sslrootcert=system` }).ssl, known.ssl)
    assert.deepEqual(postgresTargetOf({ url: at('10.0.0.7/bezel?sslmode=verify-full') }).ssl, {
      rejectUnauthorized: true,
    })
  })

  it('shows a certificate of its own where the address names one', () => {
    const { ssl } = postgresTargetOf({ url: at(`db.example/bezel?sslmode=verify-full&sslcert=${CA}&sslkey=${KEY}`) })
    assert.ok(ssl !== false && ssl.cert === PEM && ssl.key!.includes('PRIVATE KEY'))
  })

  it('is refused with two authorities, and with a file that is not there or holds something else', () => {
    const url = at('db.example/bezel?sslmode=verify-full')
    refused(() => postgresTargetOf({ url: `${url}&sslrootcert=${CA}`, caFile: CA }), /: leave one of them out\.$/)
    refused(() => postgresTargetOf({ url, caFile: '/no/such/file' }), /\(ENOENT\): correct BEZEL_DATABASE_CA_FILE\.$/)
    refused(() => postgresTargetOf({ url: `${url}&sslrootcert=${NOTHING}` }), /holds nothing in PEM: correct sslroot/)
  })
})

describe('the way to Redis', () => {
  const at = (place: string): string => `${place.replace('//', `//user:${PASSWORD}@`)}/0`

  it('needs no TLS on this machine', () => {
    for (const place of ['redis://localhost:6379', 'redis://127.0.0.1', 'redis://[::1]:6379']) {
      assert.deepEqual(redisTlsOf({ url: at(place) }), {})
    }
  })

  it('is refused elsewhere without TLS, unless the operator allows it', () => {
    for (const place of ['redis://redis.example:6379', 'redis://10.0.0.7', 'redis://[fd00::7]:6379']) {
      refused(() => redisTlsOf({ url: at(place) }), /^Redis at .* is on another machine, .*: write rediss: .*\.$/)
      assert.deepEqual(redisTlsOf({ url: at(place), isPlainAllowed: true }), {})
    }
  })

  it('verifies the server with rediss:', () => {
    const url = at('rediss://redis.example:6380')
    const known = { tls: true, rejectUnauthorized: true, servername: 'redis.example' }
    assert.deepEqual(redisTlsOf({ url }), known)
    assert.deepEqual(redisTlsOf({ url, caFile: CA }), { ...known, ca: PEM })
    refused(
      () => redisTlsOf({ url: at('redis://localhost'), caFile: CA }),
      /asks for no TLS: write rediss: in REDIS_URL/,
    )
  })
})
