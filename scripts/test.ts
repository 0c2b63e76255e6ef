import { spawn } from 'node:child_process'
import { globSync } from 'node:fs'
import process from 'node:process'
import { pipeline } from 'node:stream/promises'
import { run as startTests } from 'node:test'
import { spec } from 'node:test/reporters'
import { resolve } from 'node:path'
import { nodeVersionProblem } from '@bezel/protocol'
import { buildConsole } from '../packages/console/build/buildConsole.ts'
import { installChromium } from './installChromium.ts'
import { installPostgres } from './installPostgres.ts'
import { installRedis } from './installRedis.ts'
import { planTests } from './testing/testGroups.ts'

/**
 * The number of parallel test processes. The test machines have two cores, and stories wait for blocks about as long as
 * they compute.
 */
const TEST_CONCURRENCY = 4
/**
 * Time limit of one test and of one file, so that one that hangs ends with its name. Far above the need of any test,
 * even on a machine that is ten times slower. A campaign may take a day.
 */
const TEST_TIMEOUT_MS = process.env['CAMPAIGN'] === undefined ? 1_800_000 : 86_400_000
const TEST_FILES = '{contracts,packages,e2e,scripts,bench}/**/*.test.ts'
const SLOWEST_SHOWN = 10
/** Module that every test process loads first. */
const WHOLE_REPORTS = new URL('testing/wholeReports.ts', import.meta.url).href
/** The folder of compiled modules: a run starts several hundred processes that load the same ones. */
const COMPILE_CACHE = 'node_modules/.cache/node-compile'

const CHECKS = [
  { name: 'types', command: 'tsc', args: ['--noEmit'] },
  { name: 'types of the console', command: 'tsc', args: ['--noEmit', '-p', 'packages/console'] },
  {
    name: 'types of its tests',
    command: 'tsc',
    args: ['--noEmit', '-p', 'packages/console/tsconfig.tests.json'],
  },
  { name: 'lint', command: 'oxlint', args: ['--deny-warnings'] },
  { name: 'format', command: 'prettier', args: ['--check', '--log-level=warn', '.'] },
] as const

process.exitCode = await main(process.argv.slice(2))

/**
 * Runs all checks, builds the console, then runs all tests; with arguments only the tests whose path contains one of
 * them. Returns the exit code.
 */
async function main(filters: readonly string[]): Promise<number> {
  const problem = nodeVersionProblem(process.version)
  if (problem !== undefined) return complain(problem)
  const files = testFiles(filters)
  if (files.length === 0) return complain(`No test file has ${filters.join(' or ')} in its path.`)
  const code = (filters.length === 0 ? await runChecks() : 0) || (await buildPage())
  if (code !== 0) return code
  prepareServers(files)
  prepareBrowser(files)
  return runTests(files)
}

/**
 * Installs PostgreSQL and Redis once, where it may: tests that need them start at the same time, and apt refuses all
 * but one of them. Where it can't, those tests say so themselves.
 */
function prepareServers(files: readonly string[]): void {
  if (!files.some((file) => /^(?:e2e|packages\/server)\//.test(file))) return
  for (const install of [installPostgres, installRedis]) {
    try {
      if (install().isNew) console.log(`${install.name}: done`)
    } catch (error) {
      console.log((error as Error).message)
    }
  }
}

/** Installs the browser once, where it may, because the stories that need it start at the same time. */
function prepareBrowser(files: readonly string[]): void {
  if (!files.some((file) => file.startsWith('e2e/'))) return
  const startMs = Date.now()
  const found = installChromium()
  console.log(`browser: ${'path' in found ? found.path : found.problem} (${seconds(Date.now() - startMs)})`)
}

/** Builds the console, which the service of every story serves. Returns the exit code. */
async function buildPage(): Promise<number> {
  const startMs = Date.now()
  try {
    let isNew = false
    await buildConsole({ onBuild: () => (isNew = true) })
    if (isNew) console.log(`console: built (${seconds(Date.now() - startMs)})`)
    return 0
  } catch (error) {
    return complain(`The console could not be built: ${(error as Error).message}`)
  }
}

function testFiles(filters: readonly string[]): string[] {
  const all = globSync(TEST_FILES, { exclude: (name) => name.split('/').includes('node_modules') })
  if (filters.length === 0) return all.toSorted()
  return all.filter((file) => filters.some((filter) => file.includes(filter))).toSorted()
}

/** Runs the checks in parallel. Returns the exit code of the first that fails, in the order of the list. */
async function runChecks(): Promise<number> {
  const startMs = Date.now()
  const codes = await Promise.all(
    CHECKS.map(async ({ name, command, args }) => {
      const code = await runCheck(command, args)
      console.log(`${name}: ${code === 0 ? 'ok' : 'failed'} (${seconds(Date.now() - startMs)})`)
      return code
    }),
  )
  return codes.find((code) => code !== 0) ?? 0
}

/** Runs a command from node_modules/.bin, which npm puts into PATH. */
function runCheck(command: string, args: readonly string[]): Promise<number> {
  return new Promise((ended) => {
    const child = spawn(command, args, { stdio: 'inherit' })
    child.once('error', (error) => ended(complain(`${command} can't be run (${error.message}): use npm test.`)))
    child.once('exit', (code) => ended(code ?? 1))
  })
}

/** Prints each test as node's runner does, and the slowest files at the end. Returns the exit code. */
async function runTests(files: readonly string[]): Promise<number> {
  process.env.NODE_COMPILE_CACHE ??= resolve(COMPILE_CACHE)
  const plan = planTests(files)
  const durationsMs = new Map<string, number>()
  let hasPassed = false
  try {
    const tests = startTests({
      files: plan.files,
      concurrency: TEST_CONCURRENCY,
      timeout: TEST_TIMEOUT_MS,
      // A test that failed can leave a loop running, and its file would then never end.
      execArgv: ['--import', WHOLE_REPORTS, '--test-force-exit', `--test-timeout=${TEST_TIMEOUT_MS}`],
    })
    tests.on('test:complete', ({ nesting, name, details }) => {
      if (nesting === 0 && files.includes(name)) durationsMs.set(name, details.duration_ms)
    })
    // The last summary is that of the whole run.
    tests.on('test:summary', ({ success }) => (hasPassed = success))
    await pipeline(tests, new spec(), process.stdout, { end: false })
  } finally {
    plan.close()
  }
  printSlowest(durationsMs)
  return hasPassed ? 0 : 1
}

function printSlowest(durationsMs: ReadonlyMap<string, number>): void {
  const slowest = [...durationsMs].toSorted(([, a], [, b]) => b - a).slice(0, SLOWEST_SHOWN)
  console.log(`\nslowest ${slowest.length === 1 ? 'file' : `${slowest.length} files`}:`)
  for (const [file, durationMs] of slowest) console.log(`${seconds(durationMs).padStart(9)}  ${file}`)
}

function seconds(durationMs: number): string {
  return `${(durationMs / 1000).toFixed(1)} s`
}

function complain(sentence: string): number {
  console.error(sentence)
  return 1
}
