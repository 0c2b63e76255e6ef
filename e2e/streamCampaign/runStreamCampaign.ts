import { setTimeout as sleep } from 'node:timers/promises'
import type { SigningDomain } from '@bezel/protocol'
import { until } from '@bezel/testkit/until.ts'
import { call } from '@bezel/testkit/agentClient.ts'
import { createChainClient } from '@bezel/testkit/chainClient.ts'
import type { RunningDevnet } from '@bezel/testkit/startDevnet.ts'
import { authorize, createTradingClient } from '@bezel/testkit/tradingClient.ts'
import { beginEveryday, type Everyday } from './everyday.ts'
import { openGoodClient, type GoodClient } from './goodClient.ts'
import { startHostileCrowd, type HostileCrowd } from './hostileCrowd.ts'
import type { Ends } from './kind.ts'
import { missingKinds } from './kinds.ts'
import type { Latencies, Period } from './latencies.ts'
import type { MeasuredService, Memory } from './measuredService.ts'
import { scrape, type StreamMetrics } from './scrape.ts'

export interface StreamCampaignOptions {
  readonly devnet: RunningDevnet
  readonly service: MeasuredService
  readonly seed: number
  /** Length of the attack. */
  readonly attackMs: number
  /** Factor of the pauses that hostile clients make. */
  readonly pauses: number
  /** Length of the calm period before the attack, and again after it. */
  readonly calmMs: number
}

/** The result of a campaign. */
export interface StreamCampaignReport {
  readonly ends: Ends
  readonly ticks: Comparison
  readonly pings: Comparison
  /** Memory before, during (at the end of each minute) and after the attack. */
  readonly memory: { readonly before: Memory; readonly during: readonly Memory[]; readonly after: Memory }
  /** The largest number of sockets at a time. */
  readonly mostSockets: number
  /** Metrics with the good client alone: before the attack, and when the other clients were gone. */
  readonly metrics: { readonly before: StreamMetrics; readonly after: StreamMetrics }
  readonly slowestHealthMs: number
  /** The number of orders that were answered. */
  readonly orders: number
  readonly missingOrders: readonly string[]
  readonly problems: readonly string[]
}

/** The 99th percentile of a latency without and with hostile clients, and the number of values. */
export interface Comparison {
  readonly calmMs: number
  readonly attackedMs: number
  readonly samples: number
}

interface Stage extends StreamCampaignOptions {
  readonly good: GoodClient
  readonly everyday: Everyday
  readonly crowd: HostileCrowd
  readonly domain: SigningDomain
}

const CHAIN_PATH = '/v1/arbitrum-sepolia'
/** Time for the work of the first ticks and orders, which is not measured. */
const WARM_UP_MS = 2_000
const LAST_ANSWERS_MS = 120_000
const LOOK_MS = 1_000
const MINUTE_MS = 60_000

/** Runs a good client beside all hostile ones; the service is ready and stays so. */
export async function runStreamCampaign(options: StreamCampaignOptions): Promise<StreamCampaignReport> {
  const starting = startHostileCrowd()
  try {
    const stage = await prepareStage(options, starting)
    return await play(stage).finally(async () => {
      await stage.everyday.stop()
      stage.good.close()
    })
  } finally {
    await (await starting).kill()
  }
}

async function prepareStage(options: StreamCampaignOptions, starting: Promise<HostileCrowd>): Promise<Stage> {
  const { devnet, service } = options
  const { url } = service
  const chain = createChainClient(devnet.file)
  const of = { devnet, chain, url: () => url }
  const [trader, agent] = [chain.account('trader-1'), chain.account('agent-1')]
  await service.ready()
  await authorize(of, trader, agent)
  await authorize(of, chain.account('trader-2'), chain.account('agent-2'))
  const domain = (await call(url, CHAIN_PATH)).body.signing.domain as SigningDomain
  const client = await createTradingClient(of, trader, agent)
  const good = await openGoodClient(url, domain, agent)
  return { ...options, good, domain, crowd: await starting, everyday: beginEveryday({ url, chain, client }) }
}

async function play(stage: Stage): Promise<StreamCampaignReport> {
  const { service, good, everyday, calmMs, crowd } = stage
  await sleep(WARM_UP_MS)
  const calmBefore = await during(() => sleep(calmMs))
  const before = await service.memory()
  const metricsBefore = await scrape(service.url)
  const attack = await attackFor(stage)
  const ends = await endsOf(crowd, stage.attackMs)
  await crowd.kill()
  await until('all hostile sockets are gone', () => isAsBefore(service.url, metricsBefore))
  const calmAfter = await during(() => sleep(calmMs))
  const after = await service.memory()
  const metricsAfter = await scrape(service.url)
  await everyday.stop()
  const missingOrders = (): string[] => everyday.orders.filter((id) => !good.prepared.has(id))
  // Orders that never arrive are part of the report.
  await until('every order is told', () => missingOrders().length === 0).catch(() => undefined)
  const compare = (of: Latencies): Comparison => compared(of, [calmBefore, calmAfter], attack.period)
  return {
    ends,
    ticks: compare(good.ticks),
    pings: compare(good.pings),
    memory: { before, during: attack.memory, after },
    mostSockets: attack.mostSockets,
    metrics: { before: metricsBefore, after: metricsAfter },
    slowestHealthMs: everyday.slowestHealthMs(),
    orders: everyday.orders.length,
    missingOrders: missingOrders(),
    problems: [...good.problems, ...everyday.problems, ...service.complaints],
  }
}

async function attackFor({ crowd, devnet, service, domain, seed, attackMs, pauses }: Stage) {
  const { url } = service
  const agentKey = devnet.file.accounts.find(({ name }) => name === 'agent-2')!.privateKey
  const markets = (await call(url, `${CHAIN_PATH}/markets`)).body.data.map(({ symbol }: { symbol: string }) => symbol)
  let mostSockets = 0
  const memory: Memory[] = []
  const startMs = Date.now()
  const period = await during(async () => {
    crowd.attack({ url, markets, domain, seed, agentKey, pauses })
    for (; Date.now() < startMs + attackMs; await sleep(LOOK_MS)) {
      mostSockets = Math.max(mostSockets, (await scrape(url)).sockets)
      if (Date.now() > startMs + (memory.length + 1) * MINUTE_MS) memory.push(await service.memory(1))
    }
  })
  return { period, mostSockets, memory }
}

/** Reads the ends of all kinds. On a busy machine the last ones may come shortly after the end of the attack. */
async function endsOf(crowd: HostileCrowd, attackMs: number): Promise<Ends> {
  for (let waitedMs = 0; ; waitedMs += LOOK_MS) {
    const ends = await crowd.report()
    if (missingKinds(ends, attackMs).length === 0 || waitedMs >= LAST_ANSWERS_MS) return ends
    await sleep(LOOK_MS)
  }
}

async function isAsBefore(url: string, before: StreamMetrics): Promise<boolean> {
  const { sockets, subscriptions } = await scrape(url)
  return sockets === before.sockets && JSON.stringify(subscriptions) === JSON.stringify(before.subscriptions)
}

async function during(work: () => Promise<unknown>): Promise<Period> {
  const fromMs = Date.now()
  await work()
  return { fromMs, toMs: Date.now() }
}

function compared(latencies: Latencies, calm: readonly Period[], attack: Period): Comparison {
  return {
    calmMs: latencies.p99(calm),
    attackedMs: latencies.p99([attack]),
    samples: latencies.count(attack),
  }
}
