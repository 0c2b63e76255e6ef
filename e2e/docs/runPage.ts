import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { isRunElsewhere, SAVED_PROGRAMS } from './snippetRules.ts'
import type { Snippet } from './snippets.ts'

const ROOT = new URL('../../', import.meta.url).pathname

const RUN_MS = 300_000

/** Makes the shell and curl fail on errors. By itself curl succeeds whatever the status is. */
const STRICT = `set -euo pipefail
curl() { command curl --fail-with-body "$@"; }`

export interface PageWorld {
  /** Addresses of the service and of the local chain, which replace those in the pages. */
  readonly serviceUrl: string
  readonly devnetUrl: string
  readonly devnetFile: string
}

/**
 * Runs the commands of a page one after the other in one shell, as a reader does: in a folder with the project's
 * examples and `var/devnet.json`, where the page's programs are saved. Returns their output.
 */
export async function runPage(page: readonly Snippet[], world: PageWorld): Promise<string> {
  // The folder is inside the project, so that programs find their packages.
  mkdirSync(join(ROOT, 'var'), { recursive: true })
  const folder = mkdtempSync(join(ROOT, 'var', 'page-'))
  try {
    for (const name of ['bin', 'var']) mkdirSync(join(folder, name))
    symlinkSync(process.execPath, join(folder, 'bin', 'node'))
    symlinkSync(join(ROOT, 'examples'), join(folder, 'examples'))
    symlinkSync(world.devnetFile, join(folder, 'var', 'devnet.json'))
    const script = [STRICT, ...page.flatMap((snippet) => commandsOf(snippet, folder, world))].join('\n')
    const env = {
      ...process.env,
      PATH: `${join(folder, 'bin')}:${process.env.PATH}`,
      BASE: world.serviceUrl,
      BEZEL_URL: world.serviceUrl,
    }
    const { stdout } = await promisify(execFile)('bash', ['-c', script], { cwd: folder, env, timeout: RUN_MS })
    return stdout
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function commandsOf(snippet: Snippet, folder: string, { serviceUrl, devnetUrl }: PageWorld): string[] {
  const { page, language, code } = snippet
  const saved = SAVED_PROGRAMS[`${page} ${language}`]
  if (saved !== undefined) writeFileSync(join(folder, saved.file), code)
  if (saved?.isRun === true) return [`node ${saved.file}`]
  if (language !== 'sh' || isRunElsewhere(snippet)) return []
  return [code.replaceAll('http://127.0.0.1:8080', serviceUrl).replaceAll('http://127.0.0.1:8545', devnetUrl)]
}
