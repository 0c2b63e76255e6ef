import assert from 'node:assert/strict'
import { it } from 'node:test'
import { holdAgent, saveAgent } from '../store/agentStore.ts'
import { addClaim, removeClaim } from '../store/claimStore.ts'
import { migrate } from '../store/openStore.ts'
import { ON_POSTGRES, openTestStore } from '../store/testing/testStore.ts'
import { TEST_SCOPE } from '../store/testing/testScope.ts'
import { holdClaim } from './claims.ts'
import { claimOf } from './proofs.ts'
import { countClaims } from './testing/countClaims.ts'
import { addressOf, sampleAgent } from './testing/sampleAgent.ts'

const NOW_MS = 1_700_000_000_000
const FLOOD = { network: '10.0.0.0/24', sinceMs: NOW_MS, untold: undefined }

it(
  'a full table of claims loses one that no other transaction proves, and nobody waits for anybody',
  ON_POSTGRES,
  async () => {
    const opened = openTestStore()
    await migrate(opened.store)
    const [proven, other] = [sampleAgent(), sampleAgent({ agent: addressOf('b') })]
    await opened.store.transaction(TEST_SCOPE, async (sql) => {
      for (const [at, agent] of [proven, other].entries()) {
        await saveAgent(sql, agent)
        await addClaim(sql, claimOf(agent), { ...FLOOD, sinceMs: NOW_MS + at })
      }
    })
    const held = Promise.withResolvers<void>()
    const evicted = Promise.withResolvers<void>()
    const proof = opened.store.transaction({ chain: proven.chain }, async (sql) => {
      await holdAgent(sql, proven.chain, proven.agent)
      held.resolve()
      await evicted.promise
      return removeClaim(sql, claimOf(proven))
    })
    await held.promise
    const next = claimOf({ chain: 'arbitrum-sepolia', agent: addressOf('c') })
    const of = { network: FLOOD.network, nowMs: NOW_MS, maxClaims: 2, untold: undefined }
    const gone = await opened.store
      .transaction({ chain: next.chain }, (sql) => holdClaim(sql, next, of))
      .finally(evicted.resolve)
    assert.deepEqual(
      gone.map((record) => 'agent' in record && record.agent),
      [other.agent],
    )
    assert.equal((await proof)?.network, FLOOD.network)
    assert.equal(await countClaims(opened.store.read), 1)
    await opened.remove()
  },
)
