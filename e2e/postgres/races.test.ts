import assert from 'node:assert/strict'
import process from 'node:process'
import { after, before, describe, it } from 'node:test'
import { startPostgres, type RunningPostgres } from '@bezel/testkit/startPostgres.ts'
import type { Store } from '../../packages/server/src/store/sql.ts'
import { withoutLocks } from '../../packages/server/src/store/testing/withoutLocks.ts'
import { installPostgres } from '../../scripts/installPostgres.ts'
import { raceForClaims, raceForMarketNumbers, raceForOwnKey, raceForRegistration } from './races/agentRaces.ts'
import { raceForExits, raceForGas } from './races/gasRaces.ts'
import { raceForClientId, raceForCloid, raceForMoney, raceForMovedAgent, raceForRoom } from './races/orderRaces.ts'
import { ROUNDS } from './races/raceEnds.ts'
import { openRaceNodes, type RaceNodes } from './races/raceNodes.ts'
import { storedProblems } from './storedProblems.ts'

/** Rounds within which a race without locks has to go wrong. */
const MAX_ROUNDS_WITHOUT_LOCKS = 20
const TIMEOUT_BLOCKS = 200
/** Services that share the database, two at least. */
const NODES = Number(process.env['NODES'] ?? 3)

/** A race: one round of it, which returns what went wrong. */
interface Race {
  readonly name: string
  /**
   * True when statements hold it: without them two wait for each other for seconds, or there is nothing to take out.
   * Default false.
   */
  readonly isHeldByStatements?: true
  round(nodes: RaceNodes): Promise<string[]>
}

const RACES: readonly Race[] = [
  { name: 'the money of a cap is spent once', round: raceForMoney },
  { name: 'the money of an agent that moved is counted once', isHeldByStatements: true, round: raceForMovedAgent },
  { name: 'no more orders are prepared than an agent may have', round: raceForRoom },
  { name: 'one clientId is one order', round: raceForClientId },
  { name: 'one cloid is one order of the facade', round: raceForCloid },
  { name: 'an agent that two traders register serves one', round: raceForRegistration },
  { name: 'an agent whose own trader comes while it acts for another serves one', round: raceForOwnKey },
  { name: 'the gas of a day is given out once', round: raceForGas },
  {
    name: 'the gas of ways out is counted as it is set aside and given back',
    isHeldByStatements: true,
    round: raceForExits,
  },
  {
    name: 'claims of two chains have room for as many as there may be',
    isHeldByStatements: true,
    round: raceForClaims,
  },
  { name: 'a market gets one number', isHeldByStatements: true, round: raceForMarketNumbers },
]

describe(`${NODES} services that share a database`, () => {
  let server: RunningPostgres
  let count = 0
  before(async () => {
    installPostgres()
    server = await startPostgres()
  })
  after(() => server?.remove())

  async function withNodes<Result>(
    wrap: (store: Store) => Store,
    work: (nodes: RaceNodes) => Promise<Result>,
  ): Promise<Result> {
    const nodes = await openRaceNodes(await server.createDatabase(`race_${(count += 1)}`), NODES, wrap)
    try {
      return await work(nodes)
    } finally {
      await nodes.close()
    }
  }

  for (const { name, isHeldByStatements = false, round } of RACES) {
    it(name, async () => {
      await withNodes(
        (store) => store,
        async (nodes) => {
          for (let at = 0; at < ROUNDS; at++) assert.deepEqual(await round(nodes), [], `round ${at}`)
          assert.deepEqual(await storedProblems(nodes.nodes[1].store.read, TIMEOUT_BLOCKS), [])
        },
      )
    })

    if (isHeldByStatements) continue
    it(`${name}, which is not so without locks`, async () => {
      await withNodes(withoutLocks, async (nodes) => {
        for (let at = 0; at < MAX_ROUNDS_WITHOUT_LOCKS; at++) {
          const problems = await round(nodes)
          if (problems.length + (await storedProblems(nodes.nodes[1].store.read, TIMEOUT_BLOCKS)).length > 0) return
        }
        assert.fail('nothing went wrong: the race proves nothing')
      })
    })
  }
})
