import { globSync, readFileSync } from 'node:fs'
import { lexer, walkTokens, type Tokens } from 'marked'

const ROOT = new URL('../../', import.meta.url)

/** A block of code in a page. */
export interface Snippet {
  /** Path of the page from the root of the project. */
  readonly page: string
  /** The language after the fence; `undefined` for code that is only indented. */
  readonly language: string | undefined
  readonly code: string
}

/** Returns every block of code in the README and in docs/, in the order of pages and blocks. */
export function snippets(): readonly Snippet[] {
  const pages = ['README.md', ...globSync('docs/**/*.md', { cwd: ROOT.pathname }).toSorted()]
  return pages.flatMap((page) => {
    const found: Snippet[] = []
    walkTokens(lexer(readFileSync(new URL(page, ROOT), 'utf8')), (token) => {
      if (token.type !== 'code') return
      const { text, lang } = token as Tokens.Code
      found.push({ page, language: lang === '' ? undefined : lang, code: text })
    })
    return found
  })
}
