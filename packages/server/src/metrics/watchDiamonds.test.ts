import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { DiamondStats } from '../chain/diamondWatch.ts'
import { createMetrics } from './createMetrics.ts'
import { watchDiamonds } from './watchDiamonds.ts'

it('metrics of the contracts are read at each scrape', async () => {
  const metrics = createMetrics()
  let stats: DiamondStats = {
    isChanged: false,
    cuts: 0,
    signsOfChange: 0,
    undecoded: new Map(),
    unknownTopics: new Map(),
    unansweredMs: 0,
    isStalled: false,
  }
  watchDiamonds(metrics, new Map([['base', { stats: () => stats }]]))
  const lines = async (): Promise<string[]> =>
    (await metrics.registry.metrics()).split('\n').filter((line) => /^bezel_(diamond|requests)_/.test(line))
  assert.deepEqual(await lines(), [
    'bezel_diamond_changed{chain="base"} 0',
    'bezel_requests_unanswered_seconds{chain="base"} 0',
    'bezel_requests_stalled{chain="base"} 0',
    'bezel_diamond_cuts_total{chain="base"} 0',
  ])
  stats = {
    isChanged: true,
    cuts: 2,
    signsOfChange: 0,
    undecoded: new Map([['TradeStored', 3]]),
    unknownTopics: new Map([
      ['0x12', 4],
      ['other', 1],
    ]),
    unansweredMs: 601_500,
    isStalled: true,
  }
  for (let scrape = 0; scrape < 2; scrape++) {
    assert.deepEqual(await lines(), [
      'bezel_diamond_changed{chain="base"} 1',
      'bezel_requests_unanswered_seconds{chain="base"} 601.5',
      'bezel_requests_stalled{chain="base"} 1',
      'bezel_diamond_cuts_total{chain="base"} 2',
      'bezel_diamond_unknown_logs_total{chain="base",topic="0x12"} 4',
      'bezel_diamond_unknown_logs_total{chain="base",topic="other"} 1',
      'bezel_diamond_undecoded_logs_total{chain="base",event="TradeStored"} 3',
    ])
  }
})
