import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { RelayerHealth } from '../facade/relayer/relayerHealth.ts'
import { createMetrics } from './createMetrics.ts'
import { watchRelayers } from './watchDeployment.ts'

it('metrics of relayers are read at each scrape', async () => {
  const metrics = createMetrics()
  const counts = { mined: 7, burnt: 1, repriced: 2, lost: 0 }
  let health: RelayerHealth = {
    balanceWei: null,
    isLow: true,
    problem: null,
    waiting: 3,
    unsettled: 4,
    oldestWaitingMs: 1_500,
    budgetWei: 100n,
    usedWei: 90n,
    asideWei: 80n,
    isBudgetLow: true,
    counts,
  }
  watchRelayers(metrics, new Map([['base', { health: () => health }]]))
  const lines = async (): Promise<string[]> =>
    (await metrics.registry.metrics()).split('\n').filter((line) => line.startsWith('bezel_relayer'))
  const label = '{chain="base"}'
  assert.deepEqual(await lines(), [
    `bezel_relayer_low${label} 1`,
    `bezel_relayer_budget_wei${label} 100`,
    `bezel_relayer_budget_used_wei${label} 90`,
    `bezel_relayer_budget_low${label} 1`,
    `bezel_relayer_set_aside_wei${label} 80`,
    `bezel_relayer_waiting${label} 3`,
    `bezel_relayer_unsettled${label} 4`,
    `bezel_relayer_oldest_waiting_seconds${label} 1.5`,
    `bezel_relayer_mined_total${label} 7`,
    `bezel_relayer_burnt_total${label} 1`,
    `bezel_relayer_repriced_total${label} 2`,
    `bezel_relayer_lost_total${label} 0`,
  ])
  // What the alerts of a stuck relayer, and of a key that is used elsewhere, look at.
  health = { ...health, oldestWaitingMs: 61_000, counts: { ...counts, lost: 1 } }
  assert.ok((await lines()).includes(`bezel_relayer_oldest_waiting_seconds${label} 61`))
  assert.ok((await lines()).includes(`bezel_relayer_lost_total${label} 1`))
  health = { ...health, balanceWei: 10n ** 18n, isLow: false }
  assert.ok((await lines()).includes(`bezel_relayer_balance_wei${label} 1000000000000000000`))
})
