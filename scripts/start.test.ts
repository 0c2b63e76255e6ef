import assert from 'node:assert/strict'
import { execFile, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

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

describe('the script of npm start', () => {
  const folder = mkdtempSync(join(tmpdir(), 'bezel-start-script-'))
  const env = { PATH: `${dirname(process.execPath)}:${process.env.PATH}` }
  after(() => rmSync(folder, { recursive: true, force: true }))

  const run = (cwd: string, ...args: readonly string[]) =>
    spawnSync('sh', ['scripts/start.sh', ...args], { cwd, env, encoding: 'utf8' })

  /** Makes a clone without packages, whose set-up is this program; `undefined` for one that must not be set up. */
  function cloneOf(name: string, setup: string | undefined, program?: string): string {
    const scripts = join(folder, name, 'scripts')
    mkdirSync(scripts, { recursive: true })
    for (const file of ['start.sh', 'startHelp.mjs', 'start.ts']) {
      copyFileSync(new URL(`./${file}`, import.meta.url), join(scripts, file))
    }
    writeFileSync(join(folder, name, 'package.json'), '{"type":"module"}')
    if (setup !== undefined) writeFileSync(join(scripts, 'setup.mjs'), setup)
    if (program !== undefined) writeFileSync(join(scripts, 'start.ts'), program)
    return dirname(scripts)
  }

  const settingLines = (help: string): string[] =>
    help
      .split('\n')
      .filter((line) => line.startsWith('  '))
      .map((line) => line.trim().replace(/ {2,}/, ' '))

  it('answers --help before any set-up, in the words of the program', () => {
    const { status, stdout, stderr } = run(cloneOf('fresh', undefined), '--help')
    assert.deepEqual([status, stderr], [0, ''])
    const told = settingLines(stdout)
    assert.deepEqual(
      told.map((line) => line.split(' ')[0]),
      ['PORT', 'DEVNET_PORT', 'BEZEL_DATA', 'DEVNET_CHAINS'],
    )
    const all = settingLines(start({}, ['--help']).stdout)
    assert.deepEqual(
      told.filter((line) => !all.includes(line)),
      [],
    )
  })

  it('lists every setting with --help once the packages are there', () => {
    const { status, stdout } = run(dirname(dirname(START)), '--help')
    assert.deepEqual([status, stdout], [0, start({}, ['--help']).stdout])
  })

  it('sets up first, then runs the program in its own place with the same arguments', () => {
    const program = 'console.log(JSON.stringify(process.argv.slice(2)), process.pid)'
    const { status, stdout, stderr, pid } = run(cloneOf('whole', "console.error('set up')", program), 'a', 'b c')
    assert.deepEqual([status, stdout, stderr], [0, `["a","b c"] ${pid}\n`, 'set up\n'])
  })

  it('starts nothing when the set-up fails', () => {
    const { status, stdout } = run(cloneOf('broken', 'process.exitCode = 7', "console.log('started')"))
    assert.deepEqual([status, stdout], [1, ''])
  })
})

describe('a whole start', () => {
  const folder = mkdtempSync(join(tmpdir(), 'bezel-start-whole-'))
  const env = {
    PATH: `${dirname(process.execPath)}:${process.env.PATH}`,
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
  }
  after(() => rmSync(folder, { recursive: true, force: true }))

  it('says what it waits for, shows the sandbox, and its next command works, on whatever chain there is', async () => {
    const settings = {
      PORT: '0',
      DEVNET_PORT: '0',
      DEVNET_CHAINS: 'polygon',
      DEVNET_ORACLE_DELAY_MS: '100',
      BEZEL_DATA: join(folder, 'data'),
    }
    const child = spawn(process.execPath, [START], { env: { ...env, ...settings }, stdio: ['ignore', 'pipe', 'pipe'] })
    const ended = once(child, 'close')
    let waits = ''
    child.stderr.on('data', (chunk) => (waits += String(chunk)))
    try {
      let screen = ''
      for await (const chunk of child.stdout) {
        screen += String(chunk)
        if (/^READY .+\n/m.test(screen)) break
      }
      const [, url = ''] = /\nREADY (http:\/\/127\.0\.0\.1:\d+)\n$/.exec(screen) ?? assert.fail(screen + waits)
      assert.match(
        waits,
        /^Starting the local chain with 1 chain \.\.\.\n(?:Building the console \.\.\.\n)?Starting the service \.\.\.\n/,
      )
      for (const line of waits.match(/^(?:Starting|Building|Waiting).*/gm)!) assert.ok(line.length <= 80, line)
      const { chains } = (await (await fetch(url)).json()) as { chains: { chain: string; chainId: number }[] }
      assert.deepEqual(
        chains.map(({ chain, chainId }) => [chain, chainId]),
        [['polygon', 137]],
      )
      assert.match(screen, /^polygon  137  http:\/\/127\.0\.0\.1:\d+\/polygon$/m)
      assert.match(screen, new RegExp(`^Console        ${url}\nDocumentation  ${url}/docs$`, 'm'))
      const page = await (await fetch(url, { headers: { accept: 'text/html' } })).text()
      const [script = ''] = /\/assets\/main-\w+\.js/.exec(page) ?? []
      assert.equal((await fetch(url + script)).headers.get('content-type'), 'text/javascript; charset=utf-8')
      const { sandbox } = (await (await fetch(`${url}/console.json`)).json()) as { sandbox: { accounts: unknown[] } }
      assert.equal(sandbox.accounts.length, 11, 'traders and agents to play with')
      const [, next = ''] = /^  (BEZEL_DATA=.+)$/m.exec(screen) ?? []
      for (const command of [next, next.replace('run.mjs firstTrade', 'withoutSdk.mjs')]) {
        const { stdout } = await promisify(execFile)('sh', ['-c', command], { env })
        assert.match(stdout, /^opened 0\.0\d+ BTC at [\s\S]*^closed 0\.0\d+ BTC at /m, command)
      }
    } finally {
      child.kill('SIGTERM')
      await ended
    }
  })
})
