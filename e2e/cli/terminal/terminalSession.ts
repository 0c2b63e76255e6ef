import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { HostedLine } from './commandHost.ts'
import { startOnTerminal } from './startOnTerminal.ts'

const HOST = fileURLToPath(new URL('commandHost.ts', import.meta.url))

/** The folder that screens are kept in, for people who want to look at them. */
const { SCREENS_FOLDER: KEPT_IN } = process.env

/** The end of a command and what it left on the terminal. */
export interface ShownCommand {
  readonly code: number
  readonly text: string
}

/** Keys that are typed as soon as the terminal shows something. */
type Reply = readonly [shown: RegExp, keys: string]

/** A terminal on which one command after the other is given. */
export interface TerminalSession {
  /** Names of the commands that were given. */
  readonly lines: readonly string[]
  /** Gives a command and returns what it showed. Asserts that no line was wider than the terminal. */
  run(line: string, ...replies: readonly Reply[]): Promise<ShownCommand>
  close(): Promise<void>
}

interface SessionOptions {
  readonly python: string
  readonly columns: number
  readonly home: string
  readonly env: Readonly<Record<string, string>>
}

const ROWS = 24

/** Opens a terminal of this width. */
export function openSession({ python, columns, home, env }: SessionOptions): TerminalSession {
  const { PATH, NODE_COMPILE_CACHE } = process.env
  const host = startOnTerminal(python, [process.execPath, HOST], {
    columns,
    rows: ROWS,
    cwd: home,
    env: { PATH, NODE_COMPILE_CACHE, HOME: home },
  })
  const { terminal } = host
  const lines: string[] = []
  const seen = (): string[] => (terminal.isAlternate ? terminal.screen() : terminal.transcript())
  return {
    lines,
    async run(line, ...replies) {
      lines.push(line)
      const before = terminal.reports.length
      terminal.forget()
      host.send({ argv: line.split(' '), env } satisfies HostedLine)
      for (const [shown, keys] of replies) {
        await host.until(`bezel ${line} shows ${shown}`, () => shown.test(seen().join('\n')))
        host.type(keys)
      }
      await host.until(`bezel ${line} ends`, ({ reports }) => reports.length > before)
      const text = terminal.transcript().join('\n').trimEnd()
      keep(String(columns), `${String(lines.length).padStart(2, '0')} ${line}`, text)
      // A script is for the shell, which knows no width.
      const people = line.startsWith('completion ') ? '' : text
      // A command to paste stays whole, because half of it would do something else.
      const tooWide = terminal.wrapped().filter((row) => !row.startsWith('bezel '))
      if (people !== '') assert.deepEqual(tooWide, [], `bezel ${line} is wider than ${columns} columns:\n${text}`)
      assert.doesNotMatch(people, /undefined|NaN|\[object|\bnull\b/, `bezel ${line}`)
      return { code: Number(/exit (\d+)/.exec(terminal.reports.at(-1)!)![1]), text }
    },
    async close() {
      host.hangUp()
      await host.ended
    },
  }
}

/** Keeps a screen as text, when a folder is named for them. */
export function keep(folder: string, name: string, text: string): void {
  if (KEPT_IN === undefined) return
  mkdirSync(join(KEPT_IN, folder), { recursive: true })
  writeFileSync(join(KEPT_IN, folder, `${name.replace(/[^\w.-]+/g, '_').slice(0, 60)}.txt`), `${text}\n`)
}
