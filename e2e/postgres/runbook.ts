import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { delimiter } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { findPostgres } from '@bezel/testkit/startPostgres.ts'
import { readCodeBlocks } from '../../scripts/codeBlocks.ts'
import { OPERATOR } from './usedDeployment.ts'

const ROOT = new URL('../../', import.meta.url)

/** Returns the blocks of commands of a page, in their order. */
export function blocksOf(page: string): readonly string[] {
  return readCodeBlocks(page).flatMap(({ language, code }) => (language === 'text' ? [`${code}\n`] : []))
}

/** The machine that the commands of a page are run on. */
export interface RunbookPlace {
  readonly env: Readonly<Record<string, string>>
  /** Texts of the page, such as the address of the service, and what they are here. */
  readonly instead?: Readonly<Record<string, string>>
}

/** Runs commands of a page as an operator does, and returns what they print. Throws when one of them fails. */
export async function runCommands(commands: string, { env, instead = {} }: RunbookPlace): Promise<string> {
  const here = { 'npx --no bezel-server': '"$NODE" "$OPERATOR"', ...instead }
  const text = Object.entries(here).reduce((so, [word, own]) => so.replaceAll(word, own), commands)
  assert.doesNotMatch(text, /npx/)
  const { PATH = '' } = process.env
  const { stdout } = await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', text], {
    cwd: fileURLToPath(ROOT),
    env: {
      ...process.env,
      PATH: `${findPostgres()}${delimiter}${PATH}`,
      NODE: process.execPath,
      OPERATOR,
      ...env,
    },
  })
  return stdout
}
