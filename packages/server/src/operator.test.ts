import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, beforeEach, describe, it } from 'node:test'
import { CHAIN_SLUGS, parseAddress, type ChainSlug } from '@bezel/protocol'
import { openControls } from './access/controls.ts'
import { runOperator } from './operator.ts'
import { listAudit } from './store/auditStore.ts'
import { rememberChain } from './store/chainStore.ts'
import { openStore } from './store/openStore.ts'
import { listUnproven, saveSnapshot } from './store/snapshotStore.ts'
import type { Store } from './store/sql.ts'
import { TEST_SCOPE } from './store/testing/testScope.ts'

const TRADER = parseAddress(`0x${'1'.repeat(40)}`)!

const NOW_MS = Date.UTC(2026, 10, 15)

const folders: string[] = []

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'bezel-operator-'))
  folders.push(folder)
  return folder
}

after(() => folders.forEach((folder) => rmSync(folder, { recursive: true, force: true })))

describe('bezel-server', () => {
  let folder: string

  beforeEach(async () => {
    folder = newFolder()
    await (await openStore(folder)).close()
  })

  async function run(...argv: string[]): Promise<{ code: number; out: string; err: string }> {
    const told = { out: '', err: '' }
    const code = await runOperator({
      argv,
      env: { BEZEL_DATA: folder },
      stdout: { write: (text) => (told.out += text) },
      stderr: { write: (text) => (told.err += text) },
      now: () => NOW_MS,
    })
    return { code, ...told }
  }

  async function inStore<Result>(look: (store: Store) => Promise<Result>): Promise<Result> {
    const store = await openStore(folder)
    try {
      return await look(store)
    } finally {
      await store.close()
    }
  }

  const auditOf = (chain: ChainSlug) =>
    inStore((store) => listAudit(store.read, { chain, trader: TRADER, cursor: undefined, limit: 10 }))

  /** Stores the identity of a chain, as its first start does. */
  const remember = (chain: ChainSlug) =>
    inStore((store) => rememberChain(store, { chain, chainId: 1, diamond: TRADER, genesisHash: '0x00' }))

  it('checks a set-up whose settings are wrong, and says so in a table or in JSON', async () => {
    const told = { out: '', err: '' }
    const check = (argv: readonly string[], terminal: object = {}) =>
      runOperator({
        argv: ['check', ...argv],
        env: { BEZEL_DATA: folder, BEZEL_HEAD_POLL_MS: 'often' },
        stdout: { write: (text) => (told.out += text), ...terminal },
        stderr: { write: (text) => (told.err += text), ...terminal },
        now: () => NOW_MS,
      })
    assert.equal(await check([]), 1)
    assert.match(
      told.out,
      /^this machine\n {4}✗ settings {2}BEZEL_HEAD_POLL_MS .*\n\n1 thing must be mended before a start\.\n$/,
    )
    assert.equal(told.err, '')
    told.out = ''
    assert.equal(await check(['--json']), 1)
    assert.deepEqual([JSON.parse(told.out).ok, JSON.parse(told.out).failures], [false, 1])
    assert.equal(await check([], { isTTY: true, columns: 20 }), 1)
    assert.equal(told.err, '\r\u001b[2KChecking settings …\r\u001b[2K')
    assert.equal(await check(['base']), 1)
    assert.equal(await check(['--price-per-million-units', 'cheap']), 1)
    assert.match(told.err, /Unknown argument "base"[\s\S]*"cheap" is no price of a million compute units: write 0\.45/)
  })

  it('has a trader read again, on one chain or on all that are kept', async () => {
    await remember('base')
    await remember('arbitrum')
    assert.equal((await run('reread', TRADER, 'base')).out, `base trader ${TRADER}: is read again within seconds.\n`)
    assert.match((await run('reread', TRADER)).out, /^arbitrum trader .*\nbase trader .*\n$/)
    const unproven = await inStore(async ({ read }) => [
      await listUnproven(read, 'base'),
      await listUnproven(read, 'arbitrum'),
      await listUnproven(read, 'polygon'),
    ])
    assert.deepEqual(
      unproven.map((traders) => traders.map(({ trader }) => trader)),
      [[TRADER], [TRADER], []],
    )
    assert.match((await run('status')).out, /base trader 0x1{40}: not everything on the chain is known \(the operator/)
    assert.match((await run('reread', 'me')).err, /Name the address of the trader/)
  })

  it('has blocks read again, after those of which no history is known', async () => {
    assert.match((await run('reindex', '5', '9')).err, /Name the chain after the blocks/)
    await remember('base')
    const block = { number: 4, hash: '0x04', parentHash: '0x03', timestampMs: 1 } as never
    await inStore((store) =>
      store.transaction(TEST_SCOPE, (sql) =>
        saveSnapshot(sql, 'base', { block, traderCount: 0, nextTrader: 0, isComplete: true }),
      ),
    )
    assert.match((await run('reindex', '4', '9')).err, /known since block 4: begin at 5/)
    assert.match((await run('reindex', '9', '5')).err, /whole numbers/)
    assert.match((await run('reindex', 'x', '5')).err, /whole numbers/)
    assert.match((await run('reindex', '5', '9')).out, /^base blocks 5 to 9: are read again/)
    assert.match((await run('status')).out, /base blocks 5 to 9: read again up to 4; something was missed in 0 of them/)
  })

  it('pauses and resumes a chain, beside the service that has the store open', async () => {
    const service = await openStore(folder)
    assert.deepEqual(await run('pause', 'writes', 'base', '--reason', 'upgrade'), {
      code: 0,
      out: 'base writes: paused (upgrade).\n',
      err: `In the data folder ${folder}:\n`,
    })
    const controls = await openControls(service, assert.ifError)
    assert.deepEqual(controls.writesPaused('base'), { reason: 'upgrade' })
    assert.equal((await run('status')).out, 'base writes: paused (upgrade). Since 2026-11-15T00:00:00.000Z.\n')
    assert.equal((await run('resume', 'writes', 'base')).out, 'base writes: resumed.\n')
    assert.equal((await run('resume', 'writes', 'base')).out, 'base writes: nothing was set.\n')
    assert.match((await run('status')).out, /^Nothing is paused/)
    await controls.close()
    await service.close()
  })

  it('pauses a trader on all chains, and the trader reads it in the audit log', async () => {
    const { out } = await run('pause', 'trader', 'all', TRADER.toLowerCase())
    assert.equal(out.split('\n').length - 1, CHAIN_SLUGS.length)
    for (const chain of CHAIN_SLUGS) {
      const [entry] = await auditOf(chain)
      assert.deepEqual(
        [entry?.kind, entry?.createdAt, entry?.detail],
        ['paused', NOW_MS, { control: 'trader', value: '' }],
      )
    }
    await run('resume', 'trader', 'base', TRADER)
    assert.deepEqual(
      (await auditOf('base')).map(({ kind }) => kind),
      ['resumed', 'paused'],
    )
  })

  it('sets budgets in native token, and goes back to the configured ones', async () => {
    const { out } = await run('budget', 'polygon', '--trader-day', '0.05', '--day', '1')
    assert.match(out, /polygon gas of one trader a day: 0\.05 of the native token\./)
    assert.deepEqual(
      await inStore(async (store) => {
        const controls = await openControls(store, assert.ifError)
        await controls.close()
        return controls.budgets('polygon')
      }),
      { traderDayWei: 5n * 10n ** 16n, deploymentDayWei: 10n ** 18n },
    )
    await run('budget', 'polygon', '--day', 'default')
    const { out: status } = await run('status', '--json')
    assert.deepEqual(
      JSON.parse(status).map(({ control }: { control: string }) => control),
      ['trader_day_wei'],
    )
    const count = await inStore((store) =>
      store.read.get<{ count: bigint }>("select count(*) as count from audit_log where kind = 'budget_set'"),
    )
    assert.equal(count?.count, 3n)
  })

  it('says what to correct, and changes nothing', async () => {
    for (const [argv, says] of [
      ['halt', /Unknown command "halt"/],
      ['pause', /writes, relayer, trader or agent/],
      ['pause writes', /Name a chain/],
      ['pause writes mainnet', /Name a chain/],
      ['pause writes base now', /Unknown argument "now"/],
      ['pause trader base', /Name the address of the trader/],
      ['pause agent base 0x12', /Name the address of the agent/],
      ['budget base', /Name a budget/],
      ['budget base --day -1', /'--day' argument is ambiguous|no amount/],
      ['budget base --day much', /no amount of native token/],
      ['status --now', /--help/],
      ['migrate', /^Set DATABASE_URL to the database whose tables/],
      ['migrate now', /Unknown argument "now"/],
    ] as const) {
      const { code, err } = await run(...argv.split(' '))
      assert.equal(code, 1, argv)
      assert.match(err, says)
    }
    assert.match((await run('pause', 'writes', 'base', '--reason', 'a\nb')).err, /in one line/)
    assert.match((await run('status')).out, /^Nothing is paused/)
  })

  it('makes no store where there is none', async () => {
    folder = newFolder()
    const { code, err } = await run('pause', 'writes', 'base')
    assert.equal(code, 1)
    assert.match(err, /There is no data in .*: set BEZEL_DATA/)
  })

  it('explains itself', async () => {
    const { code, out } = await run('--help')
    assert.equal(code, 0)
    for (const word of ['status', 'pause writes', 'resume', 'budget', 'npx --no', 'BEZEL_DATA'])
      assert.ok(out.includes(word), word)
    assert.equal((await run()).code, 1)
  })

  it('says its version, its commit and its schema', async () => {
    const { code, out } = await run('--version')
    assert.equal(code, 0)
    const commit = existsSync(new URL('../../../.git', import.meta.url)) ? '[0-9a-f]{40}(?:-dirty)?' : 'unknown'
    assert.match(out, new RegExp(`^bezel-server \\d+\\.\\d+\\.\\d+, commit (?:${commit}|unknown), schema \\d+\n$`))
  })
})
