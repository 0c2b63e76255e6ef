import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { findPostgres } from '@bezel/testkit/startPostgres.ts'
import { readCodeBlocks } from '../../scripts/codeBlocks.ts'
import { commandsOf } from '../runbooks/runbookPage.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url)).replace(/\/$/, '')

/** Returns the blocks of commands of a page, in their order. */
export function blocksOf(page: string): readonly string[] {
  return readCodeBlocks(page).flatMap(({ language, code }) => (language === 'text' ? [`${code}\n`] : []))
}

/** A machine that is set up as the guide says for systemd. */
interface SystemdPlace {
  /** The folder in the place of `/etc/bezel`. */
  readonly etc: string
  /** The addresses of which `bezel.env` names the files. */
  readonly addresses: Readonly<Partial<Record<'DATABASE_URL' | 'REDIS_URL', string>>>
  /** The folder in the place of `/var/lib/bezel/a`. */
  readonly data: string
  /** The address of the owner of the tables, where the services have another user. */
  readonly owner?: string
  /** Texts of the page, such as the address of the service, and what they are here. */
  readonly instead: Readonly<Record<string, string>>
  /** Variables that the commands of PostgreSQL find in the shell. */
  readonly env?: Readonly<Record<string, string>>
}

/**
 * Runs commands of a page as an operator does, behind those of the page on how to run them. Returns what they print.
 * Throws when one of them fails.
 */
export async function runCommands(commands: string, place: SystemdPlace): Promise<string> {
  const { etc, data, instead, env } = place
  writeSettings(place)
  const owner = place.owner === undefined ? '' : `DB='${place.owner}'\n`
  const first = commandsOf('docs/runbooks/README.md', 'How to run the commands')
  const here = { ...instead, '/etc/bezel': etc, '/opt/bezel': ROOT, '/var/lib/bezel/a': data }
  const text = Object.entries(here).reduce((so, [word, own]) => so.replaceAll(word, own), `${first}${owner}${commands}`)
  const { stdout } = await promisify(execFile)('bash', ['--norc', '-euo', 'pipefail', '-c', text], {
    cwd: etc,
    env: { PATH: [dirname(process.execPath), findPostgres(), process.env['PATH']].join(delimiter), ...env },
  })
  return stdout
}

function writeSettings({ etc, addresses }: SystemdPlace): void {
  const lines = Object.entries(addresses).map(([name, address]) => {
    const file = join(etc, name)
    writeFileSync(file, `${address}\n`, { mode: 0o600 })
    return `${name}_FILE=${file}\n`
  })
  writeFileSync(join(etc, 'bezel.env'), lines.join(''))
}
