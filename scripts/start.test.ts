import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'

const START = fileURLToPath(new URL('./start.ts', import.meta.url))
const scratch = mkdtempSync(join(tmpdir(), 'bezel-start-'))
after(() => rmSync(scratch, { recursive: true, force: true }))

function start(
  env: Record<string, string>,
  args: readonly string[] = [],
): { status: number | null; stdout: string; stderr: string } {
  return spawnSync(process.execPath, [START, ...args], {
    env: {
      PATH: process.env.PATH,
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      PORT: '0',
      DEVNET_PORT: '0',
      BEZEL_DATA: join(scratch, 'data'),
      ...env,
    },
    encoding: 'utf8',
  })
}

function assertOneSentence(result: ReturnType<typeof start>, sentence: RegExp): void {
  assert.equal(result.status, 1)
  assert.equal(result.stdout, '')
  assert.match(result.stderr, sentence)
  assert.match(result.stderr, /^[^\n]+\n$/, 'one line')
  assert.deepEqual(readdirSync(scratch), [], 'nothing was started')
}

describe('npm start', () => {
  it('lists every setting of both programs with --help', () => {
    const { status, stdout } = start({}, ['--help'])
    assert.equal(status, 0)
    for (const name of [
      'PORT',
      'HOST',
      'LOG_LEVEL',
      'BEZEL_DATA',
      'BEZEL_DOMAIN_NAME',
      'DEVNET_PORT',
      'DEVNET_CHAINS',
    ]) {
      assert.match(stdout, new RegExp(`^  ${name} +\\S.*\\(default: .+\\)$`, 'm'))
    }
  })

  it('refuses an argument it does not know', () => {
    assertOneSentence(
      start({}, ['--prot=1']),
      /^npm start takes no argument "--prot=1": settings are environment variables/,
    )
  })

  it('refuses unknown settings and bad values of either program', () => {
    assertOneSentence(
      start({ DEVNET_BLOCKMS: '1' }),
      /^"DEVNET_BLOCKMS" is not a setting of Bezel: did you mean DEVNET_BLOCK_MS\?/,
    )
    assertOneSentence(start({ DEVNET_PORT: 'x' }), /^DEVNET_PORT is "x", but it must be an integer from 0 to 65535/)
    assertOneSentence(start({ LOG_LEVEL: 'loud' }), /^LOG_LEVEL is "loud", but it must be one of/)
  })

  it('refuses one port for both', () => {
    assertOneSentence(start({ PORT: '18080', DEVNET_PORT: '18080' }), /^PORT and DEVNET_PORT are both 18080: set one/)
  })

  it('refuses a port in use, of either program', async () => {
    const holder = createServer().listen(0, '127.0.0.1')
    await once(holder, 'listening')
    const port = String((holder.address() as AddressInfo).port)
    for (const setting of ['PORT', 'DEVNET_PORT']) {
      const sentence = new RegExp(
        `^Port ${port} is in use: stop the program that has it or set ${setting} to another one`,
      )
      assertOneSentence(start({ [setting]: port }), sentence)
    }
    holder.close()
  })

  it('opens its controls to others only when it is told twice', () => {
    assertOneSentence(start({ HOST: '0.0.0.0' }), /^HOST is "0\.0\.0\.0", and the local chain would let everybody/)
  })

  it('refuses the chains of somebody else, and names the command for them', () => {
    const chainsFile = join(scratch, 'chains.json')
    assertOneSentence(
      start({ BEZEL_CHAINS_FILE: chainsFile }),
      /^npm start runs the sandbox .* BEZEL_CHAINS_FILE names other chains \(.*chains\.json\): use npm run serve for those/,
    )
  })

  it('refuses a host that is not ours', () => {
    const env = { HOST: '192.0.2.1', DEVNET_PUBLIC: 'yes' }
    assertOneSentence(start(env), /can't be used \(EADDRNOTAVAIL\): change DEVNET_PORT or HOST\.$/m)
  })
})
