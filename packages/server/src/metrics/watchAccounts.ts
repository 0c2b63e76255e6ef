import type { ChainSlug } from '@bezel/protocol'
import { Counter, Gauge } from 'prom-client'
import type { AccountStats } from '../accounts/chainAccounts.ts'
import type { Metrics } from './createMetrics.ts'

/** The accounts of every chain, asked at each scrape. */
export type AccountSources = ReadonlyMap<ChainSlug, { stats(): AccountStats }>

/** Adds the numbers of the rounds that keep accounts fresh. To be called once. */
export function watchAccounts({ registry }: Metrics, byChain: AccountSources): void {
  const of = { labelNames: ['chain'], registers: [registry] }
  const rounds: Counter = new Counter({
    ...of,
    name: 'bezel_account_rounds_total',
    help: 'Rounds that read the accounts of subscribed and active traders, without those that failed.',
    collect: () => fill(rounds, (stats) => stats.rounds),
  })
  const watched: Gauge = new Gauge({
    ...of,
    name: 'bezel_accounts_watched',
    help: 'Subscribed and active traders in the last round.',
    collect: () => fill(watched, (stats) => stats.watched),
  })
  const lastRound: Gauge = new Gauge({
    ...of,
    name: 'bezel_account_round_timestamp_seconds',
    help: 'When the last round ended.',
    collect: () => fill(lastRound, ({ lastRoundAtMs }) => lastRoundAtMs && lastRoundAtMs / 1000),
  })

  function fill(series: Gauge | Counter, value: (stats: AccountStats) => number | undefined): void {
    series.reset()
    for (const [chain, { stats }] of byChain) {
      const now = value(stats())
      if (now !== undefined) series.inc({ chain }, now)
    }
  }
}
