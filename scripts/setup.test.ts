import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, describe, it } from 'node:test'

const scratch = mkdtempSync(join(tmpdir(), 'bezel-setup-test-'))
after(() => rmSync(scratch, { recursive: true, force: true }))

/** A fake npm whose `ci` deletes node_modules, takes some time, and writes its own lockfile last. */
const FAKE_NPM = `#!/bin/sh
echo "$@" >> "$NPM_CALLS"
[ "$1" = "$NPM_KILLS_AT" ] && { kill -9 $PPID; exit 9; }
[ "$1" = ci ] || exit 0
[ -n "$NPM_FAILS" ] && { echo "npm error of some kind" >&2; exit 3; }
rm -rf node_modules
mkdir node_modules node_modules/typescript
sleep \${NPM_TAKES:-0}
touch node_modules/.package-lock.json
`

interface Result {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** The part of a lockfile that setup reads. */
const LOCKED = {
  '': { devDependencies: { typescript: '7' } },
  'packages/server': { dependencies: { fastify: '5' }, optionalDependencies: { secp256k1: '5' } },
}

/** A clone of the repository with nothing installed and its own fake npm. */
class Clone {
  static count = 0
  readonly folder = join(scratch, `clone-${Clone.count++}`)
  readonly calls = join(this.folder, 'npm-calls')

  constructor() {
    mkdirSync(join(this.folder, 'bin'), { recursive: true })
    mkdirSync(join(this.folder, 'scripts'))
    for (const name of ['setup.mjs', 'setupLock.mjs', 'installScripts.json']) {
      copyFileSync(new URL(`./${name}`, import.meta.url), join(this.folder, 'scripts', name))
    }
    writeFileSync(join(this.folder, 'bin', 'npm'), FAKE_NPM, { mode: 0o755 })
    this.changeLockfile('1')
  }

  changeLockfile(version: string): void {
    writeFileSync(join(this.folder, 'package-lock.json'), JSON.stringify({ version, packages: LOCKED }))
  }

  /** Pretends that npm was run without our script, and installed these packages. */
  installByHand(...names: string[]): void {
    const packages = Object.fromEntries(names.map((name) => [`node_modules/${name}`, {}]))
    mkdirSync(join(this.folder, 'node_modules'))
    writeFileSync(join(this.folder, 'node_modules', '.package-lock.json'), JSON.stringify({ packages }))
  }

  /** Returns the arguments of every run of npm so far. */
  npmCalls(): string[] {
    return existsSync(this.calls) ? readFileSync(this.calls, 'utf8').trim().split('\n') : []
  }

  installs(): number {
    return this.npmCalls().filter((args) => args.startsWith('ci ')).length
  }

  start(
    env: Record<string, string> = {},
    nodeArgs: readonly string[] = [],
    args: readonly string[] = [],
  ): { process: ReturnType<typeof spawn>; result: Promise<Result> } {
    const path = [join(this.folder, 'bin'), dirname(process.execPath), process.env.PATH].join(':')
    const child = spawn(process.execPath, [...nodeArgs, join(this.folder, 'scripts', 'setup.mjs'), ...args], {
      env: { PATH: path, NPM_CALLS: this.calls, TMPDIR: this.folder, ...env },
      cwd: this.folder,
    })
    let [stdout, stderr] = ['', '']
    child.stdout.on('data', (chunk) => (stdout += String(chunk)))
    child.stderr.on('data', (chunk) => (stderr += String(chunk)))
    const result = once(child, 'close').then(([code]) => ({ code: code as number | null, stdout, stderr }))
    return { process: child, result }
  }

  run(env: Record<string, string> = {}, nodeArgs: readonly string[] = []): Promise<Result> {
    return this.start(env, nodeArgs).result
  }

  /** Runs what comes before `npm run serve`. */
  runForServe(env: Record<string, string> = {}): Promise<Result> {
    return this.start(env, [], ['--serve']).result
  }
}

describe('setup', () => {
  it('installs into a fresh clone, says so, and leaves stdout to the script after it', async () => {
    const clone = new Clone()
    const { code, stdout, stderr } = await clone.run()
    assert.deepEqual([code, stdout, clone.installs()], [0, '', 1])
    assert.match(stderr, /^Installing the packages.*\nInstalled in [\d.]+ s\.\n$/)
    assert.deepEqual(clone.npmCalls(), [
      'ci --ignore-scripts --include=dev --loglevel=error',
      'rebuild --ignore-scripts=false secp256k1 --loglevel=error',
    ])
  })

  it('does nothing, silently, the second time, also when only the date of the lockfile changed', async () => {
    const clone = new Clone()
    await clone.run()
    const future = new Date(Date.now() + 60_000)
    utimesSync(join(clone.folder, 'package-lock.json'), future, future)
    assert.deepEqual(await clone.run(), { code: 0, stdout: '', stderr: '' })
    assert.equal(clone.installs(), 1)
  })

  it('installs again when the lockfile changed', async () => {
    const clone = new Clone()
    await clone.run()
    clone.changeLockfile('2')
    await clone.run()
    assert.equal(clone.installs(), 2)
  })

  it('accepts what npm ci installed without it, but not when that is older than the lockfile', async () => {
    const clone = new Clone()
    clone.installByHand('typescript', 'fastify')
    await clone.run()
    await clone.runForServe()
    assert.equal(clone.installs(), 0)
    const past = new Date(Date.now() - 60_000)
    utimesSync(join(clone.folder, 'node_modules', '.package-lock.json'), past, past)
    await clone.run()
    assert.equal(clone.installs(), 1)
  })

  it('installs for the service nothing but what the service needs, once', async () => {
    const clone = new Clone()
    const { code, stdout, stderr } = await clone.runForServe()
    assert.deepEqual([code, stdout], [0, ''])
    assert.match(stderr, /^Installing the packages of the service/)
    assert.deepEqual(clone.npmCalls(), [
      'ci --ignore-scripts --omit=dev --workspace=@bezel/server --include-workspace-root --loglevel=error',
      'rebuild --ignore-scripts=false secp256k1 --loglevel=error',
    ])
    assert.ok(!existsSync(join(clone.folder, 'node_modules', 'typescript')))
    assert.deepEqual(await clone.runForServe(), { code: 0, stdout: '', stderr: '' })
    assert.equal(clone.installs(), 1)
  })

  it('installs nothing for the service where everything is installed, and everything where only the service is', async () => {
    const clone = new Clone()
    await clone.run()
    assert.deepEqual(await clone.runForServe(), { code: 0, stdout: '', stderr: '' })
    assert.equal(clone.installs(), 1)
    clone.changeLockfile('2')
    await clone.runForServe()
    await clone.run()
    assert.equal(clone.installs(), 3)
    assert.match(clone.npmCalls().at(-2)!, /--include=dev/)
    assert.ok(existsSync(join(clone.folder, 'node_modules', 'typescript')))
  })

  it('does not take an install by hand without the tools for one of everything', async () => {
    const clone = new Clone()
    clone.installByHand('fastify')
    await clone.runForServe()
    assert.equal(clone.installs(), 0)
    await clone.run()
    assert.equal(clone.installs(), 1)
  })

  it('starts over when it was killed while the packages of the list were built', async () => {
    const clone = new Clone()
    await clone.run({ NPM_KILLS_AT: 'rebuild' })
    assert.equal(clone.installs(), 1)
    assert.equal((await clone.run()).code, 0)
    assert.equal(clone.installs(), 2)
  })

  it('says what to do when npm fails, and tries again the next time', async () => {
    const clone = new Clone()
    const failed = await clone.run({ NPM_FAILS: '1' })
    assert.equal(failed.code, 1)
    assert.match(
      failed.stderr,
      /npm error of some kind\nInstalling failed \(npm ci: exit code 3\): see npm's messages above.*run the command again\.\n$/,
    )
    assert.equal((await clone.run()).code, 0)
    assert.equal(clone.installs(), 2)
  })

  it('says so when there is no npm', async () => {
    const clone = new Clone()
    rmSync(join(clone.folder, 'bin', 'npm'))
    const { code, stderr } = await clone.run({ PATH: clone.folder })
    assert.equal(code, 1)
    assert.match(stderr, /Installing failed \(npm ci: spawn npm ENOENT\)/)
  })

  it('installs once when two start together on a fresh clone', async () => {
    const clone = new Clone()
    const results = await Promise.all([clone.run({ NPM_TAKES: '1' }), clone.run({ NPM_TAKES: '1' })])
    assert.deepEqual(
      results.map(({ code }) => code),
      [0, 0],
    )
    assert.equal(clone.installs(), 1)
    assert.ok(results.some(({ stderr }) => stderr.startsWith('Waiting for another set-up')))
  })

  it('starts over after an install that was stopped or killed in the middle', async () => {
    const clone = new Clone()
    for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
      const { process: setup, result } = clone.start({ NPM_TAKES: '2' })
      while (!existsSync(join(clone.folder, 'node_modules'))) await once(setup.stderr!, 'data')
      setup.kill(signal)
      await result
      rmSync(join(clone.folder, 'node_modules'), { recursive: true, force: true })
    }
    const { code, stderr } = await clone.run()
    assert.equal(code, 0, stderr)
    assert.match(stderr, /Installed in/)
  })

  it('says what to do on a machine without the right node', async () => {
    const clone = new Clone()
    const old = `data:text/javascript,Object.defineProperty(process, 'version', { value: 'v20.19.2' })`
    const { code, stderr } = await clone.run({}, ['--import', old])
    assert.equal(code, 1)
    assert.match(
      stderr,
      /\nBezel needs node 24 or newer and this is v20\.19\.2 on \w+ \w+: .* so install node 24 and run the command again\.\n$/,
    )
  })
})
