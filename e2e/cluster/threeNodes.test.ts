import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { FRONT_RACES, FRONT_ROUNDS, MAX_PREPARED, openFacadeKey } from './frontRaces.ts'
import { openCluster, type Cluster } from './openCluster.ts'
import { openParties, replayRound, REPLAYS, type Between } from './replays.ts'
import { REVOCATIONS, revokeOnce } from './revocations.ts'

/** Rounds of replays follow each other in this order; in a campaign most of them are quiet. */
const BETWEEN: readonly Between[] = ['nothing', 'flush', 'crash', ...Array<Between>(7).fill('nothing'), 'stop']

describe('three nodes behind a front', () => {
  let cluster: Cluster
  before(async () => {
    cluster = await openCluster({
      size: 3,
      settings: { BEZEL_MAX_PREPARED_ORDERS: String(MAX_PREPARED), BEZEL_PREPARED_RESTING_MS: '600000' },
    })
  })
  after(() => cluster?.close())

  for (const { name, round } of FRONT_RACES) {
    it(name, async () => {
      for (let at = 0; at < FRONT_ROUNDS; at++) assert.deepEqual(await round(cluster), [], `round ${at}`)
    })
  }

  it('end an agent that one of them revoked', async () => {
    for (let at = 0; at < REVOCATIONS; at++) assert.deepEqual(await revokeOnce(cluster, at), [], `revocation ${at}`)
  })

  it('accept nothing that one of them accepted before', async () => {
    const parties = await openParties(cluster, 'trader-5', await openFacadeKey(cluster))
    let [sent, round] = [0, 0]
    for (; sent < REPLAYS || round < 3; round++) {
      const replayed = await replayRound(cluster, parties, {
        node: round % cluster.size,
        between: BETWEEN[round % BETWEEN.length]!,
      })
      sent += replayed.sent
      assert.deepEqual(replayed.accepted, [], `round ${round}`)
    }
    console.log(`${sent} replays refused`)
  })
})
