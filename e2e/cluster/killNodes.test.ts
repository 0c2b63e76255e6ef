import assert from 'node:assert/strict'
import process from 'node:process'
import { describe, it } from 'node:test'
import { createSeededRandom } from '@bezel/testkit/seededRandom.ts'
import { startPostgres, type RunningPostgres } from '@bezel/testkit/startPostgres.ts'
import { startRedis, type RunningRedis } from '@bezel/testkit/startRedis.ts'
import { openPostgres } from '../../packages/server/src/store/postgres.ts'
import { installPostgres } from '../../scripts/installPostgres.ts'
import { installRedis } from '../../scripts/installRedis.ts'
import { runCampaign, type Beside, type CampaignReport, type Pair } from '../campaign/runCampaign.ts'
import type { ListRows } from '../campaign/storedOrders.ts'
import { restartsOf } from '../postgres/databaseFaults.ts'
import { storedProblems } from '../postgres/storedProblems.ts'
import {
  judgeRelayedLoad,
  keyOf,
  openRelayedLoad,
  runRelayedLoad,
  settleRelayedLoad,
  type LoadTrader,
} from '../relayerCampaign/relayedLoad.ts'
import { replaySomeEnvelopes } from '../relayerCampaign/traderLife.ts'
import { inspectNodes } from './inspectNodes.ts'
import { createKillableCluster } from './killableCluster.ts'

const { env } = process
const NODES = 3
/** The number of kills. PostgreSQL is restarted and Redis flushed up to ten times among them, and once at least. */
const KILLS = Number(env['CAMPAIGN'] ?? 3)
const FAULTS = Math.min(10, Math.max(1, Math.floor(KILLS / 10)))
/** The seed. It fixes every choice, but not the timing of processes and network. */
const SEED = Number(env['SEED'] ?? Math.floor(Math.random() * 2 ** 31))
const TIMEOUT_MS = 900_000 + KILLS * 90_000
/** Blocks after which a request of the local chain times out. */
const TIMEOUT_BLOCKS = 200
const MAX_PROBLEMS_SHOWN = 40
/** Parallel loops of each account, by default few, because machines may be busy. */
const LOOPS = env['CAMPAIGN'] === undefined ? 1 : 4
/** Bounds of the look at the end. */
const DATABASE = { connections: 4, statementMs: 60_000, idleTransactionMs: 60_000 }

/** Accounts of agents, and of traders of the facade. */
const PAIRS: readonly Pair[] = [
  ['trader-1', 'agent-1'],
  ['trader-2', 'trader-2'],
  ['trader-3', 'agent-3'],
]
const RELAYED: readonly LoadTrader[] = [
  ['trader-4', 'agent-4', true],
  ['trader-5', 'agent-5', false],
]

describe('orders while one of three nodes is killed again and again', () => {
  it('are neither lost nor doubled, and end as the chain has them', { timeout: TIMEOUT_MS }, async () => {
    console.log(`SEED=${SEED} CAMPAIGN=${KILLS}`)
    installPostgres()
    installRedis()
    const [server, redis] = [await startPostgres({ isDurable: true }), await startRedis()]
    try {
      const { problems, counts } = await campaignOn(server, redis)
      for (const [what, count] of [...counts].toSorted()) console.log(`${String(count).padStart(7)} ${what}`)
      const shown = problems.slice(0, MAX_PROBLEMS_SHOWN).join('\n')
      assert.equal(problems.length, 0, `seed ${SEED}: ${problems.length} problems\n${shown}`)
      for (const what of ['orders acknowledged', 'beside: transactions of the relayer']) {
        assert.ok((counts.get(what) ?? 0) > 0, `no ${what}`)
      }
      for (const what of ['restarts of the database', 'flushes of Redis']) assert.equal(counts.get(what), FAULTS)
    } finally {
      await redis.remove()
      await server.remove()
    }
  })
})

/** Runs the campaign on a new database. Returns its problems with those of the database. */
async function campaignOn(server: RunningPostgres, redis: RunningRedis): Promise<CampaignReport> {
  const url = await server.createDatabase('campaign')
  const store = openPostgres({ url, ...DATABASE })
  const listRows: ListRows = (text) => store.read.all<Record<string, unknown>>(text)
  const flushes = {
    name: 'flushes of Redis',
    times: FAULTS,
    happen: async () => void (await redis.command('FLUSHALL')),
  }
  try {
    const { problems, counts } = await runCampaign({
      seed: SEED,
      kills: KILLS,
      maxSeconds: Infinity,
      pairs: PAIRS,
      loops: LOOPS,
      database: { url, faults: [restartsOf(server, FAULTS), flushes], listRows },
      createService: (devnet, settings) =>
        createKillableCluster(
          {
            ...settings,
            BEZEL_CHAINS_FILE: `${devnet.folder}/devnet.json`,
            BEZEL_RELAYER_KEY: keyOf(devnet, 'relayer'),
            REDIS_URL: redis.urlOf(),
          },
          { size: NODES, folder: devnet.folder, random: createSeededRandom(SEED).stream('nodes') },
        ),
      openBeside: async (parts) => besideOf(await openRelayedLoad(parts, RELAYED), listRows),
      inspect: (stage) => inspectNodes(stage, listRows),
    })
    return { problems: [...problems, ...(await storedProblems(store.read, TIMEOUT_BLOCKS))], counts }
  } finally {
    await store.close()
  }
}

/** Makes the load of the facade one that runs beside the agents. */
function besideOf(load: Awaited<ReturnType<typeof openRelayedLoad>>, listRows: ListRows): Beside {
  return {
    counts: load.journal.counts,
    run: (isOver) => runRelayedLoad(load, isOver, LOOPS),
    replaySome: () => replaySomeEnvelopes(load),
    settle: () => settleRelayedLoad(load, listRows),
    judge: () => judgeRelayedLoad(load, listRows),
  }
}
