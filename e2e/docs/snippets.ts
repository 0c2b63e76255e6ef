import { globSync } from 'node:fs'
import { readCodeBlocks, type CodeBlock } from '../../scripts/codeBlocks.ts'

const ROOT = new URL('../../', import.meta.url)

/** A block of code and its page. */
export interface Snippet extends Pick<CodeBlock, 'language' | 'code'> {
  /** Path of the page from the root of the project. */
  readonly page: string
}

/** Returns every block of code in the README and in docs/, in the order of pages and blocks. */
export function snippets(): readonly Snippet[] {
  const pages = ['README.md', ...globSync('docs/**/*.md', { cwd: ROOT.pathname }).toSorted()]
  return pages.flatMap((page) => readCodeBlocks(page).map(({ language, code }) => ({ page, language, code })))
}
