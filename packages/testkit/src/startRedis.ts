import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { lastingPort } from './lastingPort.ts'

/** Oldest major version that the service is made for. */
const MIN_VERSION = 7
/** Programs that speak the protocol, in the order in which they are looked for. */
const PROGRAMS = ['redis-server', 'valkey-server'] as const
/** Password of the servers, which no log may have. */
const PASSWORD = 'redis@only-for-tests'
/** Line of the log that says that the server answers. */
const READY_LINE = 'Ready to accept connections'

/** A Redis server of a test: own folder, own port, nothing on disk, ended by its own process. */
export interface RunningRedis {
  readonly port: number
  /** Returns the address of the server, also through a proxy on another port. */
  urlOf(port?: number): string
  /** Sends a command on a connection of its own, and returns the answer as the protocol has it. */
  command(...words: readonly string[]): Promise<string>
  /** Lets the server stand still with all its connections, until `resume`. */
  pause(): void
  resume(): void
  /** Ends the server at once. */
  stop(): Promise<void>
  /** Starts the server again after `stop`, with nothing that it had. */
  start(): Promise<void>
  /** Stops the server and deletes its folder. */
  remove(): Promise<void>
}

/** Returns the program of Redis or Valkey, or `undefined` where a version from 7 on is not installed. */
export function findRedis(): string | undefined {
  return PROGRAMS.find((program) => {
    const { status, stdout } = spawnSync(program, ['--version'], { encoding: 'utf8' })
    return status === 0 && Number(/v=(\d+)/.exec(stdout)?.[1] ?? 0) >= MIN_VERSION
  })
}

/** Starts a Redis server on a free port, with further settings as arguments. Throws where none is installed. */
export async function startRedis(...settings: readonly string[]): Promise<RunningRedis> {
  const program = findRedis()
  if (program === undefined) {
    throw new Error(`Redis ${MIN_VERSION} or newer is not installed: apt-get install redis-server`)
  }
  const folder = mkdtempSync(join(tmpdir(), 'bezel-redis-'))
  const port = await lastingPort()
  const bounds = [
    '--port',
    `${port}`,
    '--bind',
    '127.0.0.1',
    '--save',
    '',
    '--appendonly',
    'no',
    '--dir',
    folder,
    '--requirepass',
    PASSWORD,
  ]
  let child: ChildProcess | undefined

  async function start(): Promise<void> {
    const started = spawn(program!, [...bounds, ...settings], { stdio: ['ignore', 'pipe', 'inherit'] })
    child = started
    let said = ''
    for await (const chunk of started.stdout) {
      said += String(chunk)
      if (said.includes(READY_LINE)) break
    }
    if (!said.includes(READY_LINE)) throw new Error(`Redis did not start: ${said.trim().slice(-300)}`)
  }
  async function stop(): Promise<void> {
    const running = child
    child = undefined
    if (running === undefined || running.exitCode !== null || running.signalCode !== null) return
    const ended = once(running, 'exit')
    running.kill('SIGKILL')
    await ended
  }
  // A test run that ends early must not leave the server behind.
  const endAtExit = (): void => void child?.kill('SIGKILL')
  process.once('exit', endAtExit)
  await start()
  return {
    port,
    urlOf: (at = port) => `redis://default:${encodeURIComponent(PASSWORD)}@127.0.0.1:${at}`,
    command: (...words) => ask(port, words),
    pause: () => void child?.kill('SIGSTOP'),
    resume: () => void child?.kill('SIGCONT'),
    start,
    stop,
    async remove() {
      await stop()
      process.removeListener('exit', endAtExit)
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Sends the password, one command and QUIT, and returns what was answered to the command. */
async function ask(port: number, words: readonly string[]): Promise<string> {
  const socket = connect({ host: '127.0.0.1', port })
  const encode = (of: readonly string[]): string =>
    `*${of.length}\r\n${of.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`).join('')}`
  socket.write(encode(['AUTH', PASSWORD]) + encode(words) + encode(['QUIT']))
  let answer = ''
  for await (const chunk of socket) answer += String(chunk)
  return answer
    .replace(/^\+OK\r\n/, '')
    .replace(/\+OK\r\n$/, '')
    .trimEnd()
}
