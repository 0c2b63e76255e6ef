import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { MIGRATIONS } from './store/migrations/index.ts'
import packageJson from '../package.json' with { type: 'json' }

/** The folder of the clone, or of an unpacked release. */
const HOME = new URL('../../../', import.meta.url)

/** The file of a release that says which commit it was made of. */
const RELEASE_FILE = new URL('release.json', HOME)

/** Returns version, commit and newest step of the schema, for `bezel-server --version`. */
export function programVersion(): string {
  return `bezel-server ${packageJson.version}, commit ${commitOf()}, schema ${MIGRATIONS.length}`
}

/** Returns the commit of a release or of the clone; a clone with changes of its own says `-dirty`. */
function commitOf(): string {
  if (existsSync(RELEASE_FILE)) {
    return (JSON.parse(readFileSync(RELEASE_FILE, 'utf8')) as { readonly commit: string }).commit
  }
  if (!existsSync(new URL('.git', HOME))) return 'unknown'
  const ask = ['describe', '--always', '--dirty', '--abbrev=40', '--exclude=*']
  try {
    const cwd = fileURLToPath(HOME)
    return execFileSync('git', ask, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()
  } catch {
    // No git, or a clone of somebody else, which git refuses to read.
    return 'unknown'
  }
}
