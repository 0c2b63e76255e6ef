import { readFileSync } from 'node:fs'
import { lexer } from 'marked'

const ROOT = new URL('../../', import.meta.url)

/** The headings of a runbook, in their order. */
export const HEADINGS = ['Noticed by', 'By itself', 'To do', 'Over when'] as const

export type Heading = (typeof HEADINGS)[number]

/** Returns the commands below each heading of a page, all blocks of one heading together. */
export function commandsOf(page: string): ReadonlyMap<string, string> {
  const commands = new Map<string, string>()
  let heading = ''
  for (const token of lexer(readFileSync(new URL(page, ROOT), 'utf8'))) {
    if (token.type === 'heading' && token['depth'] === 2) commands.set((heading = token['text']), '')
    if (token.type !== 'code' || token['lang'] !== 'sh') continue
    commands.set(heading, `${commands.get(heading) ?? ''}${token['text']}\n`)
  }
  return commands
}
