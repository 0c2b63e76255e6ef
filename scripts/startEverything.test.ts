import assert from 'node:assert/strict'
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

const START = fileURLToPath(new URL('./testing/startStandIns.ts', import.meta.url))

interface Started {
  readonly process: ChildProcess
  readonly stdout: () => string
  readonly stderr: () => string
  /** Resolves when `text` has been printed. */
  readonly prints: (text: string) => Promise<void>
  /** Returns the process ids of both children, once they have reported them. */
  readonly childPids: () => number[]
  readonly ended: Promise<unknown[]>
}

function start(env: Record<string, string> = {}): Started {
  const child = spawn(process.execPath, [START], {
    env: {
      PATH: process.env.PATH,
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      PORT: '0',
      DEVNET_PORT: '0',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    // The child gets its own process group, so that a test can send it what a terminal sends at Ctrl-C.
    detached: true,
  })
  let [out, err] = ['', '']
  child.stdout.on('data', (chunk) => (out += String(chunk)))
  child.stderr.on('data', (chunk) => (err += String(chunk)))
  return {
    process: child,
    stdout: () => out,
    stderr: () => err,
    prints: (text) => until(() => (out + err).includes(text)),
    childPids: () => [...err.matchAll(/pid (\d+)/g)].map((match) => Number(match[1])),
    ended: once(child, 'close'),
  }
}

async function until(condition: () => boolean): Promise<void> {
  for (const deadlineMs = Date.now() + 120_000; !condition(); await sleep(10)) {
    assert.ok(Date.now() < deadlineMs, 'took too long')
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

async function assertNothingLeft(started: Started): Promise<void> {
  assert.equal(started.childPids().length, 2)
  await until(() => !started.childPids().some(isAlive))
}

describe('startEverything', () => {
  it('starts both, says READY once on stdout, and stops both at SIGTERM', async () => {
    const started = start()
    await started.prints('READY')
    assert.match(started.stdout(), /^READY http:\/\/127\.0\.0\.1:\d+\n$/)
    const url = started.stdout().slice('READY '.length).trim()
    assert.equal((await fetch(`${url}/ready`)).status, 200)
    started.process.kill('SIGTERM')
    assert.deepEqual(await started.ended, [0, null])
    await assertNothingLeft(started)
  })

  it('stops both at Ctrl-C, which a terminal sends to the whole group', async () => {
    const started = start()
    await started.prints('READY')
    process.kill(-started.process.pid!, 'SIGINT')
    assert.deepEqual(await started.ended, [0, null])
    await assertNothingLeft(started)
    assert.doesNotMatch(started.stderr(), /ended/)
  })

  it('exits 0 when SIGTERM goes to the whole group', async () => {
    const started = start()
    await started.prints('READY')
    process.kill(-started.process.pid!, 'SIGTERM')
    assert.deepEqual(await started.ended, [0, null])
    await assertNothingLeft(started)
  })

  it('stops at Ctrl-C also while it starts', async () => {
    const started = start()
    await started.prints('CHAIN pid')
    started.process.kill('SIGINT')
    assert.deepEqual(await started.ended, [0, null])
    await until(() => !started.childPids().some(isAlive))
  })

  it('leaves no child when it is killed', async () => {
    const started = start()
    await started.prints('READY')
    started.process.kill('SIGKILL')
    await assertNothingLeft(started)
  })

  it('gives a child five seconds to stop, then kills it', async () => {
    const started = start({ SERVICE_HANGS: '1' })
    await started.prints('READY')
    const startMs = Date.now()
    started.process.kill('SIGTERM')
    assert.deepEqual(await started.ended, [0, null])
    assert.ok(Date.now() - startMs >= 4_900)
    await assertNothingLeft(started)
  })

  for (const [role, name] of [
    ['CHAIN', 'local chain'],
    ['SERVICE', 'service'],
  ] as const) {
    it(`stops everything, exit code 1, when the ${name} dies`, async () => {
      const started = start({ [`${role}_DIES_MS`]: '3000' })
      assert.deepEqual(await started.ended, [1, null])
      assert.match(
        started.stderr(),
        new RegExp(`The ${name} ended \\(exit code 7\\), so everything else was stopped too`),
      )
      await assertNothingLeft(started)
    })

    it(`passes on why the ${name} can't start, exit code 1`, async () => {
      const started = start({ [`${role}_FAILS`]: '1' })
      assert.deepEqual(await started.ended, [1, null])
      assert.equal(started.stderr().replace(/^.* pid \d+\n/m, ''), `The ${role} says why.\n`)
      assert.equal(started.stdout(), '')
      await until(() => !started.childPids().some(isAlive))
    })
  }

  it('names how a child ended that said nothing', async () => {
    const started = start({ CHAIN_DIES_MS: '0' })
    assert.deepEqual(await started.ended, [1, null])
    assert.match(started.stderr(), /The local chain ended (before it was ready )?\(exit code 7\)/)
  })
})
