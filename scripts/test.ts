import { spawnSync } from 'node:child_process'
import { globSync } from 'node:fs'
import process from 'node:process'
import { nodeVersionProblem } from '@bezel/protocol'

/** The test machines have two cores, and stories wait for blocks more than they compute. */
const TEST_CONCURRENCY = 3
/** No test may take longer, so that one that waits for ever ends with its name and not with the patience of whoever started it. */
const TEST_TIMEOUT_MS = 600_000
const TEST_FILES = '{contracts,packages,e2e,scripts,bench}/**/*.test.ts'

const CHECKS = [
  { name: 'types', command: 'tsc', args: ['--noEmit'] },
  { name: 'lint', command: 'oxlint', args: ['--deny-warnings'] },
  { name: 'format', command: 'prettier', args: ['--check', '--log-level=warn', '.'] },
] as const

process.exitCode = main(process.argv.slice(2))

/** All checks, then all tests; with arguments only the tests whose path contains one of them. Returns the exit code. */
function main(filters: readonly string[]): number {
  const problem = nodeVersionProblem(process.version)
  if (problem !== undefined) return complain(problem)
  const files = testFiles(filters)
  if (files.length === 0) return complain(`No test file has ${filters.join(' or ')} in its path.`)
  return (filters.length === 0 ? runChecks() : 0) || runTests(files)
}

function testFiles(filters: readonly string[]): string[] {
  const all = globSync(TEST_FILES, { exclude: (name) => name.split('/').includes('node_modules') })
  if (filters.length === 0) return all.toSorted()
  return all.filter((file) => filters.some((filter) => file.includes(filter))).toSorted()
}

function runChecks(): number {
  for (const { name, command, args } of CHECKS) {
    const startMs = Date.now()
    const code = run(command, args)
    if (code !== 0) return code
    console.log(`${name}: ok (${((Date.now() - startMs) / 1000).toFixed(1)} s)`)
  }
  return 0
}

function runTests(files: readonly string[]): number {
  // A test that failed can leave a loop running, and its file would then never end.
  const options = [`--test-concurrency=${TEST_CONCURRENCY}`, `--test-timeout=${TEST_TIMEOUT_MS}`, '--test-force-exit']
  return run(process.execPath, ['--test', ...options, ...files])
}

/** Commands are found in node_modules/.bin, which npm puts into PATH. */
function run(command: string, args: readonly string[]): number {
  const { status, error } = spawnSync(command, args, { stdio: 'inherit' })
  return error === undefined ? (status ?? 1) : complain(`${command} can't be run (${error.message}): use npm test.`)
}

function complain(sentence: string): number {
  console.error(sentence)
  return 1
}
