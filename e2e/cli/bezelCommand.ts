import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { TradingWorld } from '@bezel/testkit/tradingWorld.ts'

export const BEZEL = fileURLToPath(new URL('../../packages/cli/bezel.mjs', import.meta.url))

/** The time limit of one run, longer than any story: only a run that hangs reaches it. */
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
  interrupt(): void
  readonly ended: Promise<BezelRun>
}

/** Runs the real program in child processes, for a world, with a home folder of its own. Keeps all output. */
export interface BezelCommand {
  readonly home: string
  run(line: string | readonly string[], env?: Record<string, string>): Promise<BezelRun>
  start(line: string | readonly string[], env?: Record<string, string>): RunningBezel
  /** Asserts that no run has printed one of these secrets, or a stack trace. */
  assertDiscreet(secrets: readonly string[]): void
  close(): void
}

export function createBezelCommand(world: TradingWorld): BezelCommand {
  const home = mkdtempSync(join(tmpdir(), 'bezel-cli-home-'))
  const said: string[] = []

  function start(line: string | readonly string[], env: Record<string, string> = {}): RunningBezel {
    const args = typeof line === 'string' ? line.split(' ') : line
    const child = spawn(process.execPath, [BEZEL, ...args], {
      cwd: home,
      // DEBUG makes many programs print more than they should.
      env: {
        PATH: process.env['PATH'],
        NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
        HOME: home,
        DEBUG: '*',
        BEZEL_DATA: world.devnet.folder,
        BEZEL_URL: world.url(),
        ...env,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: RUN_MS,
    })
    const text = { stdout: '', stderr: '' }
    let isOver = false
    for (const name of ['stdout', 'stderr'] as const) {
      child[name].setEncoding('utf8').on('data', (chunk: string) => (text[name] += chunk))
    }
    const ended = new Promise<BezelRun>((resolve, reject) => {
      child.once('error', reject)
      child.once('close', (code) => {
        isOver = true
        said.push(text.stdout, text.stderr)
        const json = args.includes('--json') ? parse(text.stdout, args) : undefined
        resolve({ code, ...text, json })
      })
    })
    return {
      ended,
      interrupt: () => child.kill('SIGINT'),
      until: (isSaid) =>
        new Promise((resolve, reject) => {
          const look = (): void => {
            if (isSaid(text.stdout, text.stderr)) resolve()
            else if (isOver) reject(new Error(`bezel ${args.join(' ')} ended before: ${text.stdout}${text.stderr}`))
          }
          child.stdout.on('data', look)
          child.stderr.on('data', look)
          child.once('close', look)
          look()
        }),
    }
  }

  return {
    home,
    start,
    run: (line, env) => start(line, env).ended,
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

/** Parses one document, or one for each line of a stream. */
function parse(stdout: string, args: readonly string[]): unknown {
  const isStream = args.includes('watch') || (args.includes('price') && !args.includes('--once'))
  if (!isStream) return JSON.parse(stdout)
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown)
}
