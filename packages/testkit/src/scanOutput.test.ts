import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { describe, it } from 'node:test'
import { scanOutput, secretsIn, secretsOfChain, secretsOfSettings } from './scanOutput.ts'

const HASH = `0x${'ab'.repeat(32)}`
const KEY = `0x${'c1'.repeat(32)}` as const
const ACCOUNT = { name: 'trader-1', address: '0x0000000000000000000000000000000000000001', privateKey: KEY } as const
const SETTINGS = {
  BEZEL_RELAYER_KEY: `0x${'d2'.repeat(32)}`,
  DATABASE_URL: 'postgresql://bezel:pass%2Fword@db:5432/bezel',
  REDIS_URL: 'redis://:only-redis@redis:6379',
}
const KNOWN = [...secretsOfSettings(SETTINGS), ...secretsOfChain({ accounts: [ACCOUNT] })]

const BAD: readonly (readonly [line: string, kind: string])[] = [
  [`{"err":"0x${'1f'.repeat(65)}"}`, 'a signature'],
  [`bz_${'Ab-_9'.repeat(8)}xyz`, 'an API key'],
  [`private key 0x${'7e'.repeat(32)}`, 'a private key'],
  [`{"relayerKey":"${'7e'.repeat(32)}"}`, 'a private key'],
  ['connect to postgres://user:word@host/db', 'a password in an address'],
  ['{"url":"redis://:word@host:6379"}', 'a password in an address'],
  ['{"body":{"market":"BTC/USD"}}', 'a request'],
  ['{"msg":"refused {\\"headers\\":{}}"}', 'a request'],
  ['{"err":{"signature":"0x12"}}', 'a credential'],
  ['{"X-Service-Api-Key":"something"}', 'a credential'],
  [`sent with ${KEY.toUpperCase().slice(2)}`, 'the private key of trader-1'],
  [`used ${SETTINGS.BEZEL_RELAYER_KEY}`, "the relayer's key"],
  ['login with pass/word failed', 'the password of DATABASE_URL'],
  ['login with pass%2Fword failed', 'the password of DATABASE_URL'],
  ['AUTH ONLY-REDIS', 'the password of REDIS_URL'],
]

const GOOD: readonly string[] = [
  `{"level":30,"requestId":"a","operation":"createOrder","status":200,"ms":1.5,"msg":"answered"}`,
  `{"hash":"${HASH}","topic":"${HASH}","msg":"the Diamond emits an event that is not known"}`,
  `{"data":"0x${'00'.repeat(100)}"}`,
  'Server listening at http://127.0.0.1:8080',
  'PostgreSQL at db:5432 refuses the user bezel of DATABASE_URL (password authentication failed for user "bezel")',
  'DATABASE_URL is no address of a PostgreSQL database',
]

describe('the search for secrets in what services write', () => {
  for (const [line, kind] of BAD) {
    it(`finds ${kind}`, () => assert.ok(secretsIn(line, KNOWN).includes(kind), secretsIn(line, KNOWN).join()))
  }

  for (const line of GOOD) {
    it(`finds nothing in ${line.slice(0, 60)}`, () => assert.deepEqual(secretsIn(line, KNOWN), []))
  }

  const run = (program: string): ReturnType<typeof spawn> => spawn(process.execPath, ['-e', program])

  it('reads both streams to their end, and passes on what is clean', async () => {
    const seen: string[] = []
    const child = run("console.log('one'); console.error('two'); process.stdout.write('three')")
    const scan = scanOutput(child, { name: 'it', secrets: KNOWN, onLine: (line) => seen.push(line) })
    await scan.end()
    assert.deepEqual(seen.toSorted(), ['one', 'three', 'two'])
    assert.equal(scan.lines(), 3)
  })

  it('throws at the end, with the place and the kind but not the secret', async () => {
    const line = JSON.stringify({ level: 30, password: 'x', text: KEY, msg: 'a message' })
    const child = run(`console.error('well'); console.error(${JSON.stringify(line)})`)
    const seen: string[] = []
    const scan = scanOutput(child, { name: 'the service', secrets: KNOWN, onLine: (text) => seen.push(text) })
    await assert.rejects(scan.end(), (error: Error) => {
      assert.match(error.message, /^the service wrote a credential and the private key of trader-1 in line 2 of its /)
      assert.match(error.message, /says "a message"$/)
      assert.doesNotMatch(error.message, /c1c1/i)
      return true
    })
    assert.deepEqual(seen, ['well'])
  })

  it('takes an empty setting for none', () => {
    assert.deepEqual(secretsOfSettings({ BEZEL_RELAYER_KEY: '', DATABASE_URL: '' }), [])
  })
})
