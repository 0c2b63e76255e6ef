import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import { describe, it } from 'node:test'
import {
  runProgram,
  type ProgramHost,
  type RunningProgram,
  StartupError,
  ToldStartupError,
  refuseArguments,
  nodeVersionProblem,
  httpUrl,
} from './runProgram.ts'

/** A process that only records what is done to it. */
class FakeHost extends EventEmitter implements ProgramHost {
  version = 'v24.21.0'
  ppid = 100
  env: Record<string, string> = {}
  printed = ''
  readonly exits: number[] = []
  readonly sent: unknown[] = []
  send: ((message: unknown) => unknown) | undefined
  readonly stderr = { write: (text: string) => (this.printed += text) }

  asChild(): this {
    this.send = (message) => this.sent.push(message)
    return this
  }

  exit(code: number): void {
    this.exits.push(code)
  }
}

function program(of: Partial<RunningProgram> = {}): RunningProgram & { closed: () => number } {
  let closed = 0
  return { url: 'http://x', close: async () => void (closed += 1), closed: () => closed, ...of }
}

describe('runProgram', () => {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    it(`closes once and exits 0 at ${signal}`, async () => {
      const host = new FakeHost()
      const started = program()
      const life = runProgram(host, async () => started)
      await Promise.resolve()
      host.emit(signal)
      await life
      assert.deepEqual(host.exits, [0])
      assert.equal(started.closed(), 1)
      assert.equal(host.printed, '')
    })
  }

  it('tells its parent when it is ready, leaves Ctrl-C to it and ends with it', async () => {
    const host = new FakeHost().asChild()
    const started = program()
    const life = runProgram(host, async () => started)
    host.emit('SIGINT')
    await new Promise(setImmediate)
    assert.deepEqual(host.sent, [{ type: 'ready', url: 'http://x' }])
    assert.equal(started.closed(), 0)
    host.emit('disconnect')
    await life
    assert.equal(started.closed(), 1)
    assert.deepEqual(host.exits, [0])
  })

  it('stops when the npm that started it is gone', async () => {
    const host = new FakeHost()
    host.env = { npm_lifecycle_event: 'start' }
    // The check of the parent keeps no process alive, so something else must.
    const open = setInterval(() => undefined, 1_000)
    const life = runProgram(host, async () => program())
    host.ppid = 1
    await life
    clearInterval(open)
    assert.deepEqual(host.exits, [0])
  })

  it('ends at once at a second signal', () => {
    const host = new FakeHost()
    void runProgram(host, async () => program({ close: () => new Promise(() => undefined) }))
    host.emit('SIGTERM')
    host.emit('SIGTERM')
    assert.deepEqual(host.exits, [1])
  })

  it('prints one sentence and exits 1 when the start fails', async () => {
    const host = new FakeHost()
    await runProgram(host, async () => {
      throw new StartupError('Port 1 is in use: change it.')
    })
    assert.equal(host.printed, 'Port 1 is in use: change it.\n')
    assert.deepEqual(host.exits, [1])
  })

  it('prints nothing when a child has told it already', async () => {
    const host = new FakeHost()
    await runProgram(host, async () => {
      throw new ToldStartupError()
    })
    assert.equal(host.printed, '')
    assert.deepEqual(host.exits, [1])
  })

  it('shows the stack of a bug', async () => {
    const host = new FakeHost()
    await runProgram(host, async () => {
      throw new TypeError('x is not a function')
    })
    assert.match(host.printed, /because of a bug: TypeError: x is not a function\n +at /)
  })

  it('exits 0 when it is told to stop while it starts and gives up', async () => {
    const host = new FakeHost()
    const life = runProgram(host, async (stop) => {
      host.emit('SIGINT')
      stop.throwIfAborted()
      return assert.fail('not stopped')
    })
    await life
    assert.deepEqual(host.exits, [0])
    assert.equal(host.printed, '')
  })

  it('exits 1 with a sentence when it can not go on', async () => {
    const host = new FakeHost()
    await runProgram(host, async () => program({ failed: Promise.reject(new StartupError('The chain ended.')) }))
    assert.equal(host.printed, 'The chain ended.\n')
    assert.deepEqual(host.exits, [1])
  })

  it('starts nothing on an old node', async () => {
    const host = new FakeHost()
    host.version = 'v22.18.0'
    await runProgram(host, async () => assert.fail('started'))
    assert.match(host.printed, /^Bezel needs node 24/)
    assert.deepEqual(host.exits, [1])
  })
})

it('refuses an argument by its name and takes none', () => {
  refuseArguments(['node', 'main.ts'])
  assert.throws(() => refuseArguments(['node', 'main.ts', '--nonsense']), StartupError)
  assert.throws(() => refuseArguments(['node', 'main.ts', '--nonsense']), /"--nonsense"/)
})

it('nodeVersionProblem accepts 24 and newer, and says what to do below', () => {
  for (const version of ['v24.0.0', 'v24.21.0', 'v25.1.0', 'v100.0.0'])
    assert.equal(nodeVersionProblem(version), undefined)
  for (const version of ['v20.19.2', 'v22.18.0', 'v2.4.0', '', 'nonsense']) {
    assert.match(nodeVersionProblem(version) ?? '', /^Bezel needs node 24 or newer and this is .*install node 24\.$/)
  }
})

it('httpUrl names an address that can be opened', () => {
  assert.equal(httpUrl('127.0.0.1', 8080), 'http://127.0.0.1:8080')
  assert.equal(httpUrl('localhost', 1), 'http://localhost:1')
  assert.equal(httpUrl('0.0.0.0', 8080), 'http://127.0.0.1:8080')
  assert.equal(httpUrl('::', 8080), 'http://127.0.0.1:8080')
  assert.equal(httpUrl('::1', 8080), 'http://[::1]:8080')
})
