import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { TradingWorld } from '@bezel/testkit/tradingWorld.ts'

const RUNNER = new URL('../../examples/run.mjs', import.meta.url).pathname

const WAIT_MS = 120_000

/** An example that runs in a child process. */
export interface RunningExample {
  /** All lines printed so far. */
  readonly lines: readonly string[]
  /** Waits for the next matching line after the last one waited for. Throws when the program ends without it. */
  line(pattern: RegExp): Promise<string>
  signal(name: NodeJS.Signals): void
  /** The exit code. */
  readonly ended: Promise<number | null>
  /** Kills the program, for cleaning up. It may have ended before. */
  kill(): Promise<void>
}

/** Starts an example as a reader does, with the world's own chain and service. */
export function startExample(
  world: Pick<TradingWorld, 'devnet' | 'url'>,
  [name, ...args]: readonly [string, ...string[]],
  settings: Record<string, string> = {},
  nodeArgs: readonly string[] = [],
): RunningExample {
  const env = { ...process.env, BEZEL_DATA: world.devnet.folder, BEZEL_URL: world.url(), ...settings }
  const child = spawn(process.execPath, [...nodeArgs, RUNNER, name, ...args], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const lines: string[] = []
  const waiting = new Set<() => void>()
  let isOver = false
  let next = 0
  const wake = (): void => {
    for (const look of waiting) look()
  }
  for (const input of [child.stdout, child.stderr]) {
    createInterface({ input }).on('line', (text) => {
      lines.push(text)
      wake()
    })
  }
  const ended = once(child, 'close').then(([code]) => {
    isOver = true
    wake()
    return code as number | null
  })

  function line(pattern: RegExp): Promise<string> {
    return new Promise((resolve, reject) => {
      const finish = (settle: () => void): void => {
        waiting.delete(look)
        clearTimeout(timer)
        settle()
      }
      const lost = (): Error => new Error(`${name} did not print ${pattern}:\n${lines.join('\n')}`)
      const timer = setTimeout(() => finish(() => reject(lost())), WAIT_MS)
      function look(): void {
        const index = lines.findIndex((text, place) => place >= next && pattern.test(text))
        if (index !== -1) {
          next = index + 1
          finish(() => resolve(lines[index]!))
        } else if (isOver) {
          finish(() => reject(lost()))
        }
      }
      waiting.add(look)
      look()
    })
  }

  return {
    lines,
    line,
    signal: (signalName) => void child.kill(signalName),
    ended,
    async kill() {
      if (!isOver) child.kill('SIGKILL')
      await ended
    },
  }
}
