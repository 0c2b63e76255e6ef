import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { after, before, describe, it } from 'node:test'
import type { LockedEntry } from '../release/lockedPackages.ts'
import { auditProblems, readAdvisories, type AuditException } from './advisories.ts'
import { lockfileProblems, unusedLicences, type Allowed } from './lockfileProblems.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const TODAY = '2026-11-18'
const FOUND = { id: 'GHSA-aaaa-bbbb-cccc', package: 'ws', severity: 'high', title: 'Frames can be long' }

const exception = (changes: Partial<AuditException> = {}): AuditException => ({
  id: FOUND.id,
  package: FOUND.package,
  reason: 'only our own tests connect by it',
  reviewBy: '2027-01-31',
  ...changes,
})

describe('a known vulnerability', () => {
  it('is a problem unless an exception names it and its package', () => {
    assert.match(auditProblems([FOUND], [], TODAY).join(), /^GHSA-aaaa-bbbb-cccc of ws \(high\): Frames can be long/)
    assert.deepEqual(auditProblems([FOUND], [exception()], TODAY), [])
    assert.equal(auditProblems([FOUND], [exception({ package: 'pg' })], TODAY).length, 2)
  })

  it('needs a reason and a day of review that has not passed', () => {
    assert.deepEqual(auditProblems([FOUND], [exception({ reviewBy: TODAY })], TODAY), [])
    assert.match(auditProblems([FOUND], [exception({ reviewBy: '2026-11-17' })], TODAY).join(), /had to be looked at/)
    assert.match(auditProblems([FOUND], [exception({ reviewBy: 'soon' })], TODAY).join(), /no day of review/)
    assert.match(auditProblems([FOUND], [exception({ reason: ' ' })], TODAY).join(), /no reason/)
  })

  it('leaves an exception of no use, which is refused where the registry was asked', () => {
    assert.match(auditProblems([], [exception()], TODAY).join(), /no use any more/)
    assert.deepEqual(auditProblems(undefined, [exception()], TODAY), [])
    assert.equal(auditProblems(undefined, [exception({ reviewBy: '2026-11-17' })], TODAY).length, 1)
  })
})

describe('the registry', () => {
  /** A cache of its own: npm keeps advisories by their number, and would go on with ours. */
  const cache = mkdtempSync(join(tmpdir(), 'bezel-audit-'))
  let registry: Server
  const asked: string[] = []
  let hasAnswer = true

  before(async () => {
    registry = createServer((request, answer) => {
      request.resume()
      asked.push(`${request.method} ${request.url}`)
      const isBulk = request.method === 'POST' && request.url === '/-/npm/v1/security/advisories/bulk'
      answer.statusCode = hasAnswer && isBulk ? 200 : 405
      const { id, severity, title } = FOUND
      const url = `https://github.com/advisories/${id}`
      answer.setHeader('content-type', 'application/json')
      answer.end(JSON.stringify({ ws: [{ id: 1, url, title, severity, vulnerable_versions: '<99', cwe: [] }] }))
    })
    await new Promise<void>((listening) => registry.listen(0, '127.0.0.1', listening))
  })
  after(() => {
    registry.close()
    rmSync(cache, { recursive: true, force: true })
  })

  function ask(): ReturnType<typeof readAdvisories> {
    const { port } = registry.address() as AddressInfo
    const settings = { npm_config_registry: `http://127.0.0.1:${port}`, npm_config_cache: cache }
    return readAdvisories(ROOT, { ...process.env, ...settings })
  }

  it('is asked by npm for everything in the lockfile, and each advisory is told once', async () => {
    assert.deepEqual(await ask(), [FOUND])
    assert.ok(asked.includes('POST /-/npm/v1/security/advisories/bulk'))
  })

  it('may be out of reach, which is told as a reason', async () => {
    hasAnswer = false
    assert.match(String(await ask()), /405/)
  })
})

describe('a lockfile', () => {
  const allowed: Allowed = {
    installScripts: ['secp256k1'],
    licences: { shipped: ['MIT'], development: { 'MPL-2.0': 'tests' }, unnamed: { quiet: 'tests' } },
  }
  const good: LockedEntry = { version: '1.2.3', integrity: `sha512-${'a'.repeat(86)}==`, license: 'MIT' }
  const problems = (changes: LockedEntry, name = 'one'): string =>
    lockfileProblems({ '': {}, [`node_modules/${name}`]: { ...good, ...changes } }, allowed).join()

  it('pins every package by version and digest, from the registry', () => {
    assert.equal(problems({}), '')
    assert.match(problems({ version: '^1.2.3' }), /^node_modules\/one has the version "\^1\.2\.3"/)
    assert.match(problems({ integrity: `sha1-${'a'.repeat(27)}=` }), /no sha512 digest/)
    assert.match(problems({ resolved: 'git+ssh://git@example.com/one.git' }), /not from the registry/)
  })

  it('has no install script and no licence that is not written down', () => {
    assert.match(problems({ hasInstallScript: true }), /install script/)
    assert.equal(problems({ hasInstallScript: true }, 'secp256k1'), '')
    assert.match(problems({ license: 'GPL-3.0' }), /licence \(GPL-3\.0\)/)
    assert.match(problems({ license: 'MPL-2.0' }), /licence/)
    assert.equal(problems({ license: 'MPL-2.0', dev: true }), '')
    const { license: _none, ...unnamed } = good
    const quiet = { 'node_modules/quiet': { ...unnamed, dev: true }, 'node_modules/other': { ...unnamed, dev: true } }
    assert.deepEqual(lockfileProblems(quiet, allowed), ['node_modules/other has a licence (none) that is on no list'])
    assert.deepEqual(unusedLicences([quiet], allowed), ['MIT', 'MPL-2.0'])
  })

  it('is ours, and passes with what CI runs, also where the registry can not be asked', () => {
    const { status, stdout, stderr } = spawnSync(process.execPath, ['scripts/audit.ts'], {
      cwd: ROOT,
      encoding: 'utf8',
      env: { ...process.env, npm_config_registry: 'http://127.0.0.1:1', npm_config_fetch_retries: '0' },
    })
    assert.equal(status, 0, stderr)
    assert.match(stderr, /THE ADVISORIES WERE NOT ASKED FOR/)
    assert.match(stdout, /^audit: \d{3} entries of 2 lockfiles, 0 problems$/m)
  })
})
