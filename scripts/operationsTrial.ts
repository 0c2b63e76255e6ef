import { readCodeBlocks, type CodeBlock } from './codeBlocks.ts'

/** The section of the guide whose commands bring everything up on one machine. */
const SECTION = 'Two nodes on one machine, to try it'

/** Reads the commands of the section, in their order. The last block ends what the others began. */
export function readTrial(): readonly CodeBlock[] {
  return readCodeBlocks('docs/operations.md').filter(({ heading }) => heading === SECTION)
}
