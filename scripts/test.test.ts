import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { planTests } from './testing/testGroups.ts'

const SCRIPT = fileURLToPath(new URL('./test.ts', import.meta.url))

/** Starts a separate test run, without NODE_TEST_CONTEXT because node refuses to run tests inside a test. */
function npmTest(...filters: string[]) {
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  return spawnSync(process.execPath, [SCRIPT, ...filters], { env, encoding: 'utf8' })
}

describe('npm test', () => {
  it('says so when no test file fits its filter', () => {
    const { status, stdout, stderr } = npmTest('no-such-test')
    assert.deepEqual([status, stdout, stderr], [1, '', 'No test file has no-such-test in its path.\n'])
  })

  it('runs unit tests in one process, each file with its own hooks', () => {
    const folder = mkdtempSync(join(tmpdir(), 'bezel-test-'))
    try {
      const write = (name: string, text: string): void => {
        const path = join(folder, `contracts.${name}.test.ts`)
        writeFileSync(path, `import { beforeEach, it } from 'node:test'\n${text}\n`)
      }
      write('first', "beforeEach(() => { throw new Error('a hook of the first') })\nit('fails', () => undefined)")
      write('second', "it('passes', () => undefined)")
      const files = ['first', 'second'].map((name) => join(folder, `contracts.${name}.test.ts`))
      const plan = planTests(files)
      assert.equal(plan.files.length, 1)
      const { NODE_TEST_CONTEXT: _, ...env } = process.env
      const run = spawnSync(process.execPath, ['--test', '--test-reporter=tap', ...plan.files], {
        env,
        encoding: 'utf8',
      })
      plan.close()
      assert.equal(existsSync(plan.files[0]!), false)
      assert.equal(run.status, 1)
      assert.match(run.stdout, /not ok 1 - fails/)
      assert.match(run.stdout, /\n {4}ok 1 - passes/)
      assert.match(run.stdout, /\n# pass 1\n# fail 1\n/)
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

  it('starts the longest files first, and those that measure their process alone', () => {
    const plan = planTests(['e2e/agents.test.ts', 'e2e/fuzz.test.ts', 'scripts/test.test.ts'])
    plan.close()
    assert.equal(plan.files[0], 'e2e/fuzz.test.ts')
    assert.deepEqual(plan.files.slice(1), ['e2e/agents.test.ts', 'scripts/test.test.ts'])
  })

  it('reads the reports of a process that ends at once', async () => {
    const reports = fileURLToPath(new URL('testing/wholeReports.ts', import.meta.url))
    const program = "process.stdout.write('r'.repeat(4_000_000)); process.exit()"
    const child = spawn(process.execPath, ['--import', reports, '--eval', program])
    let size = 0
    for await (const chunk of child.stdout) size += chunk.length
    assert.equal(size, 4_000_000)
  })

  it('prints the counts of node and the slowest files, and ends with 0 when all passed', () => {
    const { status, stdout } = npmTest('packages/protocol/src/hours')
    assert.equal(status, 0, stdout)
    assert.match(stdout, /ℹ tests \d+\n/)
    assert.match(stdout, /ℹ fail 0\n/)
    assert.match(stdout, /slowest \d+ files?:\n +\d+\.\d s {2}packages\/protocol\/src\/hours/)
  })
})
