import { globSync, readFileSync } from 'node:fs'
import { REPOSITORY_ROOT } from './repositoryRoot.ts'

/** Of the page itself, which is no file: its links are those of the files beside it. */
export const DECISIONS_SOURCE = 'docs/decisions/index.md'

const HEAD = `# Decisions

What a newcomer would question, and why it is as it is. In the repository each is a file of its own in \`docs/decisions\`.`

/** All decisions in one page, oldest first. */
export function decisionsPage(): string {
  const texts = decisionFiles().map((file) => readFileSync(new URL(file, REPOSITORY_ROOT), 'utf8'))
  // Their titles become sections.
  return `${[HEAD, ...texts.map((text) => text.trim().replace(/^# /, '## '))].join('\n\n')}\n`
}

/** The title of a decision, by its file; `undefined` for any other file. */
export function decisionTitle(file: string): string | undefined {
  if (!decisionFiles().includes(file)) return undefined
  return /^# (.+)$/m.exec(readFileSync(new URL(file, REPOSITORY_ROOT), 'utf8'))?.[1]
}

function decisionFiles(): readonly string[] {
  return globSync('docs/decisions/[0-9]*.md', { cwd: REPOSITORY_ROOT.pathname }).toSorted()
}
