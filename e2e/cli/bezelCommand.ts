import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { TradingWorld } from '@bezel/testkit/tradingWorld.ts'
import { createInterruption } from '../../packages/cli/src/commands/interruption.ts'
import { runCli } from '../../packages/cli/src/runCli.ts'

export const BEZEL = fileURLToPath(new URL('../../packages/cli/bezel.mjs', import.meta.url))

/** Blocks as often as the command line asks for news. More of them would only cost computing. */
export const SLOWER_CHAIN = { DEVNET_BLOCK_MS: '300' }

/** The time limit of one process, longer than any story: only a process that hangs reaches it. */
const RUN_MS = 280_000

/** The result of one run of `bezel`. */
export interface BezelRun {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
  /** The parsed output of `--json`. */
  // oxlint-disable-next-line typescript/no-explicit-any -- parsed answers are asserted on
  readonly json: any
}

/** A run that has not ended. */
export interface RunningBezel {
  /** Waits until stdout or stderr satisfies the condition. Throws when the run ends before. */
  until(isSaid: (stdout: string, stderr: string) => boolean): Promise<void>
  /** Stops it as Ctrl-C does. */
  interrupt(): void
  readonly ended: Promise<BezelRun>
}

type Line = string | readonly string[]

type Env = Readonly<Record<string, string>>

/**
 * Runs `bezel` for a world, with an environment of its own. Keeps all output. Most stories run it inside the process of
 * the test, because a process costs as much computing as everything else that a command does.
 */
export interface BezelCommand {
  readonly home: string
  /** Runs a command line in this process. `clockOffMs` sets its clock wrong. */
  run(line: Line, env?: Env, clockOffMs?: number): Promise<BezelRun>
  /** Starts a command line in this process. */
  start(line: Line, env?: Env): RunningBezel
  /** Starts the real program in a process, for stories about exit codes, signals and the home folder. */
  spawn(line: Line, env?: Env): RunningBezel
  /** Asserts that no run has printed one of these secrets, or a stack trace. */
  assertDiscreet(secrets: readonly string[]): void
  close(): void
}

export function createBezelCommand(world: Pick<TradingWorld, 'devnet' | 'url'>): BezelCommand {
  const home = mkdtempSync(join(tmpdir(), 'bezel-cli-home-'))
  const said: string[] = []
  // DEBUG makes many programs print more than they should.
  const envOf = (env: Env = {}): Env => ({
    HOME: home,
    DEBUG: '*',
    BEZEL_DATA: world.devnet.folder,
    BEZEL_URL: world.url(),
    ...env,
  })

  function startHere(line: Line, env?: Env, clockOffMs = 0): RunningBezel {
    const argv = wordsOf(line)
    const transcript = createTranscript(argv, said)
    const interruption = createInterruption()
    const exited = runCli({
      argv,
      env: envOf(env),
      stdin: NO_TERMINAL,
      stdout: { write: (text) => transcript.add('stdout', text) },
      stderr: { write: (text) => transcript.add('stderr', text) },
      now: () => Date.now() + clockOffMs,
      interruption,
    })
    return transcript.running(exited, interruption.stop)
  }

  function startProcess(line: Line, env?: Env): RunningBezel {
    const argv = wordsOf(line)
    const transcript = createTranscript(argv, said)
    const { PATH, NODE_COMPILE_CACHE } = process.env
    const child = spawn(process.execPath, [BEZEL, ...argv], {
      cwd: home,
      env: { PATH, NODE_COMPILE_CACHE, ...envOf(env) },
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: RUN_MS,
    })
    for (const name of ['stdout', 'stderr'] as const) {
      child[name].setEncoding('utf8').on('data', (text: string) => transcript.add(name, text))
    }
    const exited = new Promise<number | null>((resolve, reject) => {
      child.once('error', reject)
      child.once('close', resolve)
    })
    return transcript.running(exited, () => child.kill('SIGINT'))
  }

  return {
    home,
    run: (line, env, clockOffMs) => startHere(line, env, clockOffMs).ended,
    start: (line, env) => startHere(line, env),
    spawn: startProcess,
    assertDiscreet(secrets) {
      const all = said.join('\n')
      assert.ok(all.length > 1000)
      for (const [place, secret] of secrets.entries())
        assert.ok(!all.toLowerCase().includes(secret.replace(/^0x/, '').toLowerCase()), `secret ${place} was printed`)
      assert.doesNotMatch(all, /^\s+at .*:\d+:\d+\)?$/m)
      assert.doesNotMatch(all, /node:internal|UnhandledPromise|\[object Object\]/)
    },
    close: () => rmSync(home, { recursive: true, force: true }),
  }
}

/** The input of a program that was not started from a terminal. */
const NO_TERMINAL = { on: () => undefined, off: () => undefined, resume: () => undefined, pause: () => undefined }

function wordsOf(line: Line): readonly string[] {
  return typeof line === 'string' ? line.split(' ') : line
}

/** Collects the output of one run, which joins `said` at its end, and wakes those who wait for a text in it. */
function createTranscript(argv: readonly string[], said: string[]) {
  const text = { stdout: '', stderr: '' }
  const waiting = new Set<() => void>()
  let isOver = false
  const wake = (): void => waiting.forEach((look) => look())

  async function ending(exited: Promise<number | null>): Promise<BezelRun> {
    const code = await exited
    isOver = true
    said.push(text.stdout, text.stderr)
    wake()
    return { code, ...text, json: argv.includes('--json') ? parse(text.stdout, argv) : undefined }
  }

  return {
    add(name: keyof typeof text, more: string): void {
      text[name] += more
      wake()
    },
    running: (exited: Promise<number | null>, interrupt: () => void): RunningBezel => ({
      ended: ending(exited),
      interrupt,
      until: (isSaid) =>
        new Promise((resolve, reject) => {
          const look = (): void => {
            if (isSaid(text.stdout, text.stderr)) resolve()
            else if (isOver) reject(new Error(`bezel ${argv.join(' ')} ended before: ${text.stdout}${text.stderr}`))
            else return
            waiting.delete(look)
          }
          waiting.add(look)
          look()
        }),
    }),
  }
}

/** Parses one document, or one for each line of a stream. */
function parse(stdout: string, argv: readonly string[]): unknown {
  const isStream = argv.includes('watch') || (argv.includes('price') && !argv.includes('--once'))
  if (!isStream) return JSON.parse(stdout)
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown)
}
