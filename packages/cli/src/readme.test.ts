import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { parseCommandLine } from './commandLine/parseCommandLine.ts'
import { COMMANDS } from './runCli.ts'
import { EXIT_CODES, EXIT_CODE_MEANINGS } from './errors/cliError.ts'

const README = readFileSync(new URL('../README.md', import.meta.url), 'utf8')

describe('README.md', () => {
  it('has every command, and every exit code in the same words', () => {
    for (const { name } of COMMANDS) assert.match(README, new RegExp(`^\\| \`${name}[ \`]`, 'm'))
    for (const [name, code] of Object.entries(EXIT_CODES)) {
      assert.ok(README.includes(`| ${code} | ${EXIT_CODE_MEANINGS[name as keyof typeof EXIT_CODES]} |`), name)
    }
  })

  it('has only examples that are understood', () => {
    const lines = [...README.matchAll(/^(?:npx )?bezel (.+)$|`bezel ([^`]+)`/gm)].map((match) => match[1] ?? match[2]!)
    const examples = lines.filter((line) => !line.startsWith('COMMAND')).map((line) => line.split(' > ')[0]!)
    assert.ok(examples.length > 15)
    for (const example of examples) parseCommandLine(example.split(' '), COMMANDS)
  })
})
