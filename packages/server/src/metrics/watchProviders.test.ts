import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { ProviderStatus } from '../chain/providers/providers.ts'
import { createMetrics } from './createMetrics.ts'
import { watchProviders } from './watchProviders.ts'

it('metrics of the providers are read at each scrape, with their state as a label', async () => {
  const metrics = createMetrics()
  let status: ProviderStatus = {
    name: '1 (node.example)',
    state: 'ok',
    reason: undefined,
    batch: 99,
    hedges: 0,
    roundTrips: 3,
    calls: 12,
    refusals: 0,
  }
  watchProviders(metrics, new Map([['base', { statuses: () => [status] }]]))
  const lines = async (): Promise<string[]> =>
    (await metrics.registry.metrics()).split('\n').filter((line) => line.startsWith('bezel_provider_'))
  const labels = 'chain="base",provider="1 (node.example)"'
  assert.deepEqual(await lines(), [
    `bezel_provider_up{${labels},state="ok"} 1`,
    `bezel_provider_calls_total{${labels}} 12`,
    `bezel_provider_refusals_total{${labels}} 0`,
    `bezel_provider_hedges_total{${labels}} 0`,
  ])
  status = { ...status, state: 'limited', refusals: 2, hedges: 1 }
  assert.deepEqual(await lines(), [
    `bezel_provider_up{${labels},state="limited"} 0`,
    `bezel_provider_calls_total{${labels}} 12`,
    `bezel_provider_refusals_total{${labels}} 2`,
    `bezel_provider_hedges_total{${labels}} 1`,
  ])
})
