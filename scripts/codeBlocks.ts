import { readFileSync } from 'node:fs'
import { lexer, walkTokens, type Tokens } from 'marked'

const ROOT = new URL('../', import.meta.url)

/** A block of code in a page of the project. */
export interface CodeBlock {
  /** The language after the fence; `undefined` for code that is only indented. */
  readonly language: string | undefined
  readonly code: string
  /** The heading of the second level that it stands below; empty before the first. */
  readonly heading: string
  /** The last paragraph before it. */
  readonly introduction: string
}

/** Reads the blocks of code of a page, in their order. */
export function readCodeBlocks(page: string): readonly CodeBlock[] {
  const blocks: CodeBlock[] = []
  let [heading, introduction] = ['', '']
  walkTokens(lexer(readFileSync(new URL(page, ROOT), 'utf8')), (token) => {
    if (token.type === 'heading' && (token as Tokens.Heading).depth === 2) heading = (token as Tokens.Heading).text
    if (token.type === 'paragraph') introduction = (token as Tokens.Paragraph).text
    if (token.type !== 'code') return
    const { text: code, lang } = token as Tokens.Code
    blocks.push({ language: lang === '' ? undefined : lang, code, heading, introduction })
  })
  return blocks
}
