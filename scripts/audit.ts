import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { auditProblems, readAdvisories, type AuditException } from './audit/advisories.ts'
import { lockfileProblems, unusedLicences, type Allowed } from './audit/lockfileProblems.ts'
import { readLockfile } from './release/lockedPackages.ts'

/**
 * Runs `npm run audit`: judges the lockfiles by the written lists, which asks nobody, and asks the registry for known
 * vulnerabilities. A registry that can't be asked is said loudly and is no failure.
 */
const ROOT = join(import.meta.dirname, '..')
const LOCKFILES = ['.', 'e2e/generatedClients']

const readJson = (path: string): unknown => JSON.parse(readFileSync(join(import.meta.dirname, path), 'utf8'))

const scripts = readJson('installScripts.json') as Record<'run' | 'skip', Readonly<Record<string, string>>>
const allowed: Allowed = {
  installScripts: Object.keys({ ...scripts.run, ...scripts.skip }),
  licences: readJson('audit/licences.json') as Allowed['licences'],
}
const lockfiles = LOCKFILES.map((folder) => readLockfile(join(ROOT, folder)))
const advisories = await readAdvisories(ROOT)
const problems = [
  ...lockfiles.flatMap((lockfile) => lockfileProblems(lockfile, allowed)),
  ...unusedLicences(lockfiles, allowed).map((one) => `${one} in scripts/audit/licences.json is used by no package.`),
  ...auditProblems(
    typeof advisories === 'string' ? undefined : advisories,
    readJson('audit/exceptions.json') as AuditException[],
    new Date().toISOString().slice(0, 'yyyy-mm-dd'.length),
  ),
]

const count = lockfiles.reduce((sum, lockfile) => sum + Object.keys(lockfile).length, 0)
if (typeof advisories === 'string') {
  console.error(`\nTHE ADVISORIES WERE NOT ASKED FOR, known vulnerabilities would not be seen: ${advisories}\n`)
}
for (const problem of problems) console.error(problem)
console.log(`audit: ${count} entries of ${lockfiles.length} lockfiles, ${problems.length} problems`)
process.exitCode = problems.length === 0 ? 0 : 1
