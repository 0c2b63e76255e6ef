import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { parseAddress, type Address } from '@bezel/protocol'
import { eraseCallerIps, listAudit, writeAudit, type AuditEntry } from './auditStore.ts'
import { migrate } from './openStore.ts'
import { openTestStore, type TestStore } from './testing/testStore.ts'
import { TEST_SCOPE } from './testing/testScope.ts'

const at = (digit: string): Address => parseAddress(`0x${digit.repeat(40)}`)!

const [TRADER, OTHER, AGENT] = [at('1'), at('2'), at('3')]

const ADDED: AuditEntry = {
  chain: 'base',
  atMs: 1_000,
  kind: 'agent_added',
  trader: TRADER,
  agent: AGENT,
  callerIp: '203.0.113.7',
  requestId: 'r-1',
  detail: { mode: 'self' },
}

describe('the audit log', () => {
  let opened: TestStore

  beforeEach(async () => {
    opened = openTestStore()
    await migrate(opened.store)
  })
  afterEach(() => opened.remove())

  const write = (...entries: AuditEntry[]): Promise<void> =>
    opened.store.transaction(TEST_SCOPE, async (sql) => {
      for (const entry of entries) await writeAudit(sql, entry)
    })

  const list = (trader: Address, cursor?: number, limit = 10) =>
    listAudit(opened.store.read, { chain: 'base', trader, cursor, limit })

  const ips = async (): Promise<(string | null)[]> =>
    (await opened.store.read.all<{ caller_ip: string | null }>('select caller_ip from audit_log order by id')).map(
      (row) => row.caller_ip,
    )

  it('tells a trader its own entries, newest first, without the address of the caller', async () => {
    await write(ADDED, { ...ADDED, trader: OTHER }, { ...ADDED, chain: 'polygon' }, { ...ADDED, kind: 'agent_revoked' })
    assert.deepEqual(await list(TRADER), [
      { ...toldOf(4), kind: 'agent_revoked' },
      { ...toldOf(1), kind: 'agent_added' },
    ])
    assert.ok(!JSON.stringify(await list(TRADER)).includes('203.0.113.7'))
  })

  it('is read in pages', async () => {
    await write(ADDED, ADDED, ADDED)
    const [newest, next] = await list(TRADER, undefined, 2)
    assert.deepEqual([newest?.id, next?.id], [3, 2])
    assert.deepEqual(
      (await list(TRADER, 2)).map(({ id }) => id),
      [1],
    )
  })

  it('is written by one module, which inserts and forgets by the rules of this test', () => {
    const source = fileURLToPath(new URL('..', import.meta.url))
    const files = globSync('**/*.ts', { cwd: source, exclude: (path) => path.endsWith('.test.ts') })
    const naming = files.filter((path) => readFileSync(join(source, path), 'utf8').includes('audit_log'))
    // The list of tables only names it, for copies.
    assert.deepEqual(naming.toSorted(), [
      'store/auditStore.ts',
      'store/migrations/0019-audit-log.ts',
      'store/tables.ts',
    ])
  })

  it('has nothing of a change that was rolled back', async () => {
    const failed = opened.store.transaction(TEST_SCOPE, async (sql) => {
      await writeAudit(sql, ADDED)
      throw new Error('no')
    })
    await assert.rejects(failed)
    assert.deepEqual(await list(TRADER), [])
  })

  it('never gives an id twice, also when the newest entry is gone', async () => {
    await write(ADDED, ADDED)
    await opened.store.transaction(TEST_SCOPE, (sql) => sql.run('delete from audit_log'))
    await write(ADDED)
    assert.deepEqual(
      (await list(TRADER)).map(({ id }) => id),
      [3],
    )
  })

  it('loses the addresses of callers after their time, and nothing else', async () => {
    await write(ADDED, { ...ADDED, atMs: 2_000 })
    const erase = (beforeMs: number, limit = 10) =>
      opened.store.transaction(TEST_SCOPE, (sql) => eraseCallerIps(sql, beforeMs, limit))
    assert.equal(await erase(1_000), 0)
    assert.equal(await erase(1_001), 1)
    assert.deepEqual(await ips(), [null, '203.0.113.7'])
    assert.equal(await erase(9_000), 1)
    assert.deepEqual(await list(TRADER), [{ ...toldOf(2), createdAt: 2_000 }, toldOf(1)])
  })

  it('keeps the newest 2,000 entries of a trader', async () => {
    await write({ ...ADDED, trader: OTHER }, ...Array.from({ length: 2_003 }, () => ADDED))
    const rows = await list(TRADER, undefined, 5_000)
    assert.deepEqual([rows.length, rows.at(-1)?.id], [2_000, 5])
    assert.equal((await list(OTHER)).length, 1)
  })
})

function toldOf(id: number) {
  const { atMs: createdAt, kind, agent, requestId, detail } = ADDED
  return { id, createdAt, kind, agent, keyLabel: null, requestId, detail }
}
