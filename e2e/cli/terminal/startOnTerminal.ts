import { spawn, spawnSync } from 'node:child_process'
import { constants } from 'node:os'
import { fileURLToPath } from 'node:url'
import { createVirtualTerminal, type VirtualTerminal } from '@bezel/testkit/virtualTerminal.ts'

const PROGRAM = fileURLToPath(new URL('pseudoTerminal.py', import.meta.url))

/** The time limit of one process, longer than any story: only a process that hangs reaches it. */
const RUN_MS = 280_000

/** A program on a pseudo-terminal of the operating system, and what a person would see on it. */
export interface OnTerminal {
  readonly terminal: VirtualTerminal
  type(keys: string): void
  resize(columns: number, rows: number): void
  signal(name: NodeJS.Signals): void
  /** Closes the terminal, as closing its window does. */
  hangUp(): void
  /** Sends a message to a program that node runs. */
  send(message: object): void
  /** Waits until the terminal looks like this. Throws when the program ends before, with what it showed. */
  until(what: string, isSeen: (terminal: VirtualTerminal) => boolean): Promise<void>
  /** Resolves with the exit code. */
  readonly ended: Promise<number | null>
}

interface StartOptions {
  readonly columns: number
  readonly rows: number
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
}

/** Finds a Python with pseudo-terminals, which node has none of; `undefined` when there is none. */
export function findPython(): string | undefined {
  const isOne = (command: string): boolean =>
    spawnSync(command, ['-c', 'import fcntl, pty, termios'], { stdio: 'ignore' }).status === 0
  return ['python3', '/usr/bin/python3'].find(isOne)
}

/** Starts a program on a pseudo-terminal of this size. */
export function startOnTerminal(
  python: string,
  command: readonly string[],
  { columns, rows, env, cwd }: StartOptions,
): OnTerminal {
  const terminal = createVirtualTerminal({ columns, rows })
  const child = spawn(python, [PROGRAM, String(columns), String(rows), ...command], {
    cwd,
    env: { TERM: 'xterm-256color', ...env },
    stdio: ['pipe', 'pipe', 'inherit', 'ipc'],
    timeout: RUN_MS,
  })
  const [keys, shown] = [child.stdin!, child.stdout!]
  const waiting = new Set<() => void>()
  let isOver = false
  let failure: unknown
  const { promise: ended, resolve, reject } = Promise.withResolvers<number | null>()
  const wake = (): void => waiting.forEach((look) => look())
  const order = (...words: readonly (string | number)[]): void => void keys.write(`${JSON.stringify(words)}\n`)
  // An order to a program that has just ended is too late, and no failure.
  keys.on('error', () => undefined)
  shown.setEncoding('utf8').on('data', (text: string) => {
    try {
      terminal.write(text)
    } catch (error) {
      failure ??= error
    }
    wake()
  })
  child.once('error', reject)
  child.once('close', (code) => {
    isOver = true
    resolve(code)
    wake()
  })
  return {
    terminal,
    ended,
    type: (text) => order('keys', text),
    resize(newColumns, newRows) {
      terminal.resize(newColumns, newRows)
      order('size', newColumns, newRows)
    },
    signal: (name) => order('signal', constants.signals[name]),
    hangUp: () => void keys.end(),
    send: (message) => void child.send(message),
    until: (what, isSeen) =>
      new Promise((seen, fail) => {
        const look = (): void => {
          if (failure !== undefined) fail(failure)
          else if (isSeen(terminal)) seen()
          else if (isOver) fail(new Error(`the program ended before ${what}:\n${terminal.transcript().join('\n')}`))
          else return
          waiting.delete(look)
        }
        waiting.add(look)
        look()
      }),
  }
}
