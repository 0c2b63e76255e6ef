import { readCodeBlocks } from '../../scripts/codeBlocks.ts'

/** The headings of a runbook, in their order. */
export const HEADINGS = ['Noticed by', 'By itself', 'To do', 'Over when'] as const

export type Heading = (typeof HEADINGS)[number]

/** Returns the commands below a heading of a page, all blocks of it together. */
export function commandsOf(page: string, heading: Heading | 'How to run the commands'): string {
  const blocks = readCodeBlocks(page).filter((block) => block.language === 'sh' && block.heading === heading)
  return blocks.map(({ code }) => `${code}\n`).join('')
}
