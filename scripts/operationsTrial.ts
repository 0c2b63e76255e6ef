import { readFileSync } from 'node:fs'
import { lexer, type Token } from 'marked'

const PAGE = new URL('../docs/operations.md', import.meta.url)
/** The section whose commands bring everything up on one machine. */
const SECTION = 'Two nodes on one machine, to try it'

/** Commands of the page that belong together. */
export interface TrialPart {
  /** The sentence before them. */
  readonly title: string
  readonly commands: string
}

/** Reads the commands of the section, in their order. The last part ends what the others began. */
export function readTrial(): readonly TrialPart[] {
  const parts: TrialPart[] = []
  let isInside = false
  let title = ''
  for (const token of lexer(readFileSync(PAGE, 'utf8')) as Token[]) {
    if (token.type === 'heading') isInside = token['text'] === SECTION
    if (!isInside) continue
    if (token.type === 'paragraph') title = String(token['text'])
    if (token.type === 'code') parts.push({ title, commands: String(token['text']) })
  }
  return parts
}
