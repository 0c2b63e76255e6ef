import type { ChainSlug } from '@bezel/protocol'
import { Counter } from 'prom-client'
import type { DiamondStats } from '../chain/diamondWatch.ts'
import type { Metrics } from './createMetrics.ts'
import { addCounters, addGauges, type MetricSeries } from './watchDeployment.ts'

const GAUGES: readonly MetricSeries<DiamondStats>[] = [
  {
    name: 'bezel_diamond_changed',
    help: '1 while nothing is written because the contracts changed.',
    value: ({ isChanged }) => Number(isChanged),
  },
  {
    name: 'bezel_requests_unanswered_seconds',
    help: 'Time of the chain for which requests were made and none was executed or refused.',
    value: ({ unansweredMs }) => unansweredMs / 1000,
  },
  {
    name: 'bezel_requests_stalled',
    help: '1 when that time is above BEZEL_UNANSWERED_MS.',
    value: ({ isStalled }) => Number(isStalled),
  },
]

const COUNTERS: readonly MetricSeries<DiamondStats>[] = [
  { name: 'bezel_diamond_cuts_total', help: 'Changes of the contracts in followed blocks.', value: ({ cuts }) => cuts },
]

/** Adds the metrics of the contracts of every chain, read at each scrape. Call it once. */
export function watchDiamonds({ registry }: Metrics, watches: ReadonlyMap<ChainSlug, { stats(): DiamondStats }>): void {
  const byChain = (): [ChainSlug, DiamondStats][] => [...watches].map(([chain, watch]) => [chain, watch.stats()])
  addGauges(registry, GAUGES, byChain)
  addCounters(registry, COUNTERS, byChain)
  addByName('bezel_diamond_unknown_logs_total', 'Logs of events that the ABI lacks.', 'topic', (of) => of.unknownTopics)
  addByName('bezel_diamond_undecoded_logs_total', 'Logs with another layout.', 'event', (of) => of.undecoded)

  function addByName(
    name: string,
    help: string,
    label: string,
    countsOf: (stats: DiamondStats) => ReadonlyMap<string, number>,
  ): void {
    const counter: Counter = new Counter({
      name,
      help,
      labelNames: ['chain', label],
      registers: [registry],
      collect() {
        counter.reset()
        for (const [chain, stats] of byChain()) {
          for (const [key, count] of countsOf(stats)) counter.inc({ chain, [label]: key }, count)
        }
      },
    })
  }
}
