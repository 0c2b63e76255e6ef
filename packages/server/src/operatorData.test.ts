import assert from 'node:assert/strict'
import { cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, beforeEach, describe, it } from 'node:test'
import { parseAddress, type Address } from '@bezel/protocol'
import { startPostgres, type RunningPostgres } from '@bezel/testkit/startPostgres.ts'
import { installPostgres } from '../../../scripts/installPostgres.ts'
import { openNonces, type Nonces } from './access/nonces.ts'
import { createFacadeNonces } from './facade/signing/facadeNonces.ts'
import { runOperator } from './operator.ts'
import { readSignedAtMs } from './store/acceptedStructStore.ts'
import { takeIds } from './store/ids.ts'
import { lockDataFolder } from './store/lockDataFolder.ts'
import { openConfiguredStore } from './store/openConfiguredStore.ts'
import { listRelayEntries } from './store/relayStore.ts'
import type { Store } from './store/sql.ts'
import { TEST_SCOPE } from './store/testing/testScope.ts'

const CHAIN = 'arbitrum-sepolia'
const AGENT = parseAddress(`0x${'a'.repeat(40)}`)!
const SENDER = parseAddress(`0x${'b'.repeat(40)}`)!
const BACK_UP_MS = Date.UTC(2026, 10, 15)
const BOUNDS = { connections: 4, statementMs: 60_000, idleTransactionMs: 60_000 }
/** How far the clock of a client may be ahead, native and on the facade. */
const AHEAD_MS = 30_000
const FACADE_AHEAD_MS = 60_000

const root = mkdtempSync(join(tmpdir(), 'bezel-restored-'))
let server: RunningPostgres
let count = 0

before(async () => {
  installPostgres()
  server = await startPostgres()
})
after(async () => {
  await server?.remove()
  rmSync(root, { recursive: true, force: true })
})

/** A deployment whose back-up can be made and put back. */
interface Deployment {
  readonly folder: string
  readonly env: Readonly<Record<string, string>>
  open(): Promise<Store>
  backUp(): Promise<void>
  putBack(): Promise<void>
}

async function onSqlite(): Promise<Deployment> {
  const folder = join(root, `sqlite-${++count}`)
  return {
    folder,
    env: { BEZEL_DATA: folder },
    open: () => openConfiguredStore({ dataFolder: folder, database: undefined }),
    backUp: async () => cpSync(folder, `${folder}-back-up`, { recursive: true }),
    async putBack() {
      rmSync(folder, { recursive: true })
      cpSync(`${folder}-back-up`, folder, { recursive: true })
    },
  }
}

async function onPostgres(): Promise<Deployment> {
  const name = `restored_${++count}`
  const url = await server.createDatabase(name)
  const folder = join(root, name)
  return {
    folder,
    env: { BEZEL_DATA: folder, DATABASE_URL: url },
    open: () => openConfiguredStore({ dataFolder: folder, database: { url, ...BOUNDS } }),
    backUp: async () => void (await server.psql('postgres', `create database ${name}_back_up template ${name}`)),
    async putBack() {
      await server.psql('postgres', `drop database ${name}`)
      await server.psql('postgres', `create database ${name} template ${name}_back_up`)
    },
  }
}

for (const [engine, make] of [
  ['SQLite', onSqlite],
  ['PostgreSQL', onPostgres],
] as const) {
  describe(`bezel-server restored, on ${engine}`, () => {
    let of: Deployment
    let nowMs: number

    beforeEach(async () => {
      nowMs = BACK_UP_MS
      of = await make()
      await (await of.open()).close()
    })

    async function run(...argv: string[]): Promise<{ code: number; out: string; err: string }> {
      const told = { out: '', err: '' }
      const code = await runOperator({
        argv,
        env: of.env,
        stdout: { write: (text) => (told.out += text) },
        stderr: { write: (text) => (told.err += text) },
        now: () => nowMs,
      })
      return { code, ...told }
    }

    async function inStore<Result>(look: (store: Store) => Promise<Result>): Promise<Result> {
      const store = await of.open()
      try {
        return await look(store)
      } finally {
        await store.close()
      }
    }

    /** Offers a signed read, a signed write and an envelope of one time to a service that starts now. */
    const offer = (atMs: number): Promise<boolean[]> =>
      inStore(async (store) => {
        const file = join(root, `nonces-${++count}.log`)
        const nonces: Nonces = await openNonces({ store, file, now: () => nowMs })
        const facade = await createFacadeNonces({ store, now: () => nowMs })
        const write = await store.transaction(TEST_SCOPE, (sql) => nonces.storeClaim(sql, CHAIN, AGENT, '2', atMs))
        const outcome = [nonces.claim(CHAIN, AGENT, '1', atMs), write, await facade.use(AGENT, atMs)]
        nonces.close()
        return outcome
      })
    const structFloor = (agent: Address): Promise<number> =>
      inStore(({ read }) => readSignedAtMs(read, { chain: CHAIN, agent, trader: SENDER }))

    it('lets nothing pass that was signed before, also by a clock that is ahead, and later everything', async () => {
      await of.backUp()
      const sentMs = nowMs + 60_000
      nowMs = sentMs
      assert.deepEqual(await offer(sentMs + AHEAD_MS), [true, true, true])
      await of.putBack()
      nowMs += 5_000
      assert.deepEqual(await offer(sentMs + 1), [true, true, true], 'without the command it would be accepted again')
      await of.putBack()
      const { code, out } = await run('restored')
      assert.equal(code, 0)
      assert.match(
        out,
        /signed after 2026-11-15T00:01:35\.000Z, envelopes of the facade after 2026-11-15T00:02:05\.000Z/,
      )
      for (const ahead of [0, 1, AHEAD_MS]) assert.deepEqual(await offer(sentMs + ahead), [false, false, false])
      assert.equal(await structFloor(AGENT), nowMs + AHEAD_MS)
      nowMs += FACADE_AHEAD_MS
      assert.deepEqual(await offer(nowMs + 1), [true, true, true])
    })

    it('never lowers what is refused already', async () => {
      nowMs += 3_600_000
      await run('restored')
      const floor = await structFloor(AGENT)
      nowMs = BACK_UP_MS
      await run('restored')
      assert.equal(await structFloor(AGENT), floor)
    })

    it('gives no id again, and has the relayer send nothing again', async () => {
      const insertEntry = (nonce: number, state: string, expiresAtMs: number): Promise<number> =>
        inStore((store) =>
          store.transaction(TEST_SCOPE, (sql) =>
            sql.run(
              `insert into relay_entries (chain, sender, nonce, state, attempt_id, trader, gas, expires_at, day, counted_wei)
               values ($1, $2, $3, $4, $5, $2, 1, $6, 1, '0')`,
              CHAIN,
              SENDER,
              nonce,
              state,
              `attempt ${nonce}`,
              expiresAtMs,
            ),
          ),
        )
      await insertEntry(7, 'live', nowMs + 120_000)
      await insertEntry(8, 'live', nowMs - 1)
      await insertEntry(9, 'done', nowMs + 120_000)
      const take = () =>
        inStore((store) =>
          store.transaction(TEST_SCOPE, async (sql) => [
            ...(await takeIds(sql, 'orders', 1)),
            ...(await takeIds(sql, 'notices', 1)),
            ...(await takeIds(sql, 'audit', 1)),
          ]),
        )
      const earlier = await take()
      assert.match((await run('restored')).out, /^.* 1 relayed actions of the back-up are not sent any more\./)
      const now = await take()
      for (const [at, id] of now.entries()) assert.ok(id > earlier[at]! + 999_999n, `${id} after ${earlier[at]}`)
      const entries = await inStore(({ read }) =>
        listRelayEntries(read, { chain: CHAIN, sender: SENDER }, { from: 0, limit: 9 }),
      )
      assert.deepEqual(
        entries.map(({ nonce, expiresAtMs }) => [nonce, expiresAtMs]),
        [
          [7, nowMs],
          [8, nowMs - 1],
        ],
      )
    })

    it('is refused while the service runs, without data, and with words that it does not know', async () => {
      const lock = lockDataFolder(of.folder, [])
      assert.match((await run('restored')).err, /is in use by another service: stop that one first/)
      lock.release()
      assert.match((await run('restored', 'now')).err, /Unknown argument "now"/)
      assert.match((await run('copy', 'now')).err, /Unknown argument "now"/)
      if (engine === 'SQLite') {
        const nowhere = join(root, 'nowhere')
        of = { ...of, env: { BEZEL_DATA: nowhere } }
        assert.match((await run('restored')).err, /There is no data in .*nowhere/)
        assert.equal(existsSync(nowhere), false)
      } else {
        of = { ...of, env: { ...of.env, DATABASE_URL: await server.createDatabase(`nothing_${++count}`) } }
        assert.match((await run('restored')).err, /There is no data in the database of DATABASE_URL/)
        assert.match((await run('status')).err, /There is no data in the database of DATABASE_URL/)
      }
    })
  })
}
