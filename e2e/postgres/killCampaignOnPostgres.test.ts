import assert from 'node:assert/strict'
import process from 'node:process'
import { describe, it } from 'node:test'
import { startPostgres, type RunningPostgres } from '@bezel/testkit/startPostgres.ts'
import { openPostgres } from '../../packages/server/src/store/postgres.ts'
import { installPostgres } from '../../scripts/installPostgres.ts'
import { runCampaign, type CampaignReport } from '../campaign/runCampaign.ts'
import { restartsOf } from './databaseFaults.ts'
import { storedProblems } from './storedProblems.ts'

const { env } = process
/** The number of kills of the service. PostgreSQL is restarted once for every tenth of them, and once at least. */
const KILLS = Number(env['CAMPAIGN'] ?? 2)
const RESTARTS = Math.max(1, Math.floor(KILLS / 10))
/** The seed. It fixes every choice, but not the timing of processes and network. */
const SEED = Number(env['SEED'] ?? Math.floor(Math.random() * 2 ** 31))
const TIMEOUT_MS = 600_000 + KILLS * 60_000
/** Blocks after which a request of the local chain times out. */
const TIMEOUT_BLOCKS = 200
const MAX_PROBLEMS_SHOWN = 40
/** Bounds of the look at the end. */
const DATABASE = { connections: 4, statementMs: 60_000, idleTransactionMs: 60_000 }

describe('orders while the service is killed and PostgreSQL restarted again and again', () => {
  it('are neither lost nor doubled, and end as the chain has them', { timeout: TIMEOUT_MS }, async () => {
    console.log(`SEED=${SEED} CAMPAIGN=${KILLS}`)
    installPostgres()
    const server = await startPostgres({ isDurable: true })
    try {
      const { problems, counts } = await campaignOn(server)
      for (const [what, count] of [...counts].toSorted()) console.log(`${String(count).padStart(7)} ${what}`)
      const shown = problems.slice(0, MAX_PROBLEMS_SHOWN).join('\n')
      assert.equal(problems.length, 0, `seed ${SEED}: ${problems.length} problems\n${shown}`)
      assert.ok((counts.get('orders acknowledged') ?? 0) > 0, 'no orders flowed')
      assert.equal(counts.get('restarts of the database'), RESTARTS)
    } finally {
      await server.remove()
    }
  })
})

/** Runs the campaign on a new database. Returns its problems with those of the database. */
async function campaignOn(server: RunningPostgres): Promise<CampaignReport> {
  const url = await server.createDatabase('campaign')
  const store = openPostgres({ url, ...DATABASE })
  const database = {
    url,
    faults: [restartsOf(server, RESTARTS)],
    listRows: (text: string) => store.read.all<Record<string, unknown>>(text),
  }
  try {
    const { problems, counts } = await runCampaign({ seed: SEED, kills: KILLS, maxSeconds: Infinity, database })
    return { problems: [...problems, ...(await storedProblems(store.read, TIMEOUT_BLOCKS))], counts }
  } finally {
    await store.close()
  }
}
