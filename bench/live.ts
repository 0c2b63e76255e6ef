import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { call } from '@bezel/testkit/agentClient.ts'
import { startLiveDiamond, type LiveDiamond } from '@bezel/testkit/live/liveDiamond.ts'
import { writeProviderChains } from '@bezel/testkit/live/providerChains.ts'
import type { BilledCounts } from '@bezel/testkit/live/providerCounts.ts'
import { startStandInProvider } from '@bezel/testkit/live/standInProvider.ts'
import { startService } from '@bezel/testkit/startService.ts'
import { startActiveTrader } from './live/activeTrader.ts'

// Benchmarks what a chain of live size costs: `npm run bench -- live [--minutes 10] [--trades 20000]`.
//
// The service follows a Diamond with as many pairs, collaterals and more open trades than the live one has, blocks come
// each 250 ms, and nobody trades. The node is behind stand-ins for two providers, which count the calls as they would
// bill them. Each case is measured for some minutes after the service is ready, and extrapolated to a day. The longest
// piece of work is that of the service's main thread in the same minutes (live/tellStalls.ts).

const DEFAULT_MINUTES = 10
const DEFAULT_TRADES = 20_000
const MS_PER_MINUTE = 60_000
const MINUTES_PER_DAY = 1_440

/** Minutes before a measurement: what runs once after a start is not what runs all day. */
const WARM_UP_MINUTES = 0.5

const MAX_CALLS_PER_DAY = 100_000
const MAX_CALLS_PER_DAY_WITHOUT_SOCKET = 250_000
const MAX_CALLS_PER_TRADER = 2_000
const MAX_PIECE_MS = 20

/** Settings of a live deployment. */
const SETTINGS = {
  LOG_LEVEL: 'error',
  BEZEL_ACCOUNT_REFRESH_MS: '30000',
  BEZEL_HEAD_POLL_MS: '2000',
  // A relayer looks more often on a local chain: it is left out here, and what it costs on a live one is added.
  BEZEL_RELAYER_KEY: '',
}

/** Calls of an idle relayer on a live chain: five each 45 s, as `callsADay.test.ts` counts them. */
const RELAYER_CALLS_PER_DAY = (5 * 86_400) / 45

const TELL_STALLS = new URL('live/tellStalls.ts', import.meta.url).href

interface Case {
  readonly name: string
  readonly withSockets: boolean
  readonly withTrader: boolean
}

const CASES: readonly Case[] = [
  { name: 'idle, with a WebSocket', withSockets: true, withTrader: false },
  { name: 'idle, without one', withSockets: false, withTrader: false },
  { name: 'one active trader, with a WebSocket', withSockets: true, withTrader: true },
]

type Bill = Pick<BilledCounts, 'calls' | 'requests' | 'units' | 'pushes' | 'byMethod'>

interface Measured extends Case {
  readonly counts: Bill
  readonly callsPerDay: number
  readonly pushesPerDay: number
  /** Number of markets that the service lists. */
  readonly markets: number
  /** Processor time of the longest piece of work in ms. */
  readonly longestMs: number
  /** The same of pieces in which the engine collected garbage for some milliseconds. */
  readonly withCollectionMs: number
  /** The same of pieces in which the host of a virtual machine took processors away. */
  readonly withStolenMs: number
}

/** The longest pieces of one second, as live/tellStalls.ts tells them. */
interface Stalls {
  readonly atMs: number
  readonly cpuMs: number
  readonly withCollectionMs: number
  readonly withStolenMs: number
}

/** Prints the calls of each case. Returns true when all limits are met. */
export async function run(): Promise<boolean> {
  const minutes = numberAfter('--minutes') ?? DEFAULT_MINUTES
  const trades = numberAfter('--trades') ?? DEFAULT_TRADES
  const live = await startLiveDiamond({ trades })
  const measured: Measured[] = []
  for (const one of CASES) measured.push(await measure(live, one, minutes))
  await live.devnet.stop()
  return print(measured, minutes, trades)
}

function numberAfter(name: string): number | undefined {
  const at = process.argv.indexOf(name)
  return at === -1 ? undefined : Number(process.argv[at + 1])
}

async function measure(live: LiveDiamond, of: Case, minutes: number): Promise<Measured> {
  const { devnet } = live
  const folder = mkdtempSync(join(tmpdir(), 'bezel-bench-live-'))
  const stallsFile = join(folder, 'stalls.json')
  const target = devnet.file.chains['arbitrum-sepolia']!.rpcUrl.replace(/\/$/, '')
  const providers = await Promise.all([startStandInProvider({ target }), startStandInProvider({ target })])
  // Without `startBlock` the service takes a snapshot, as on a live chain.
  const chainsFile = writeProviderChains(devnet, providers, {
    name: 'bench.json',
    withSockets: of.withSockets,
    entry: { startBlock: undefined },
  })
  const service = await startService(devnet, {
    ...SETTINGS,
    BEZEL_DATA: join(folder, 'data'),
    BEZEL_CHAINS_FILE: chainsFile,
    NODE_OPTIONS: `--import ${TELL_STALLS}`,
    STALLS_FILE: stallsFile,
  })
  const { data } = (await call(service.url, '/v1/arbitrum-sepolia/markets')).body as { data: readonly unknown[] }
  const trader = of.withTrader ? await startActiveTrader(live, service.url) : undefined
  await sleep(WARM_UP_MINUTES * MS_PER_MINUTE)
  for (const provider of providers) provider.resetCounts()
  const fromMs = Date.now()
  await sleep(minutes * MS_PER_MINUTE)
  const counts = sumOf(providers.map((provider) => provider.counts()))
  const toMs = Date.now()
  await trader?.stop()
  await service.stop()
  await Promise.all(providers.map((provider) => provider.close()))
  const told = (JSON.parse(readFileSync(stallsFile, 'utf8')) as Stalls[]).filter(
    ({ atMs }) => atMs >= fromMs && atMs <= toMs,
  )
  rmSync(folder, { recursive: true, force: true })
  const perDay = (count: number): number => Math.round((count * MINUTES_PER_DAY * MS_PER_MINUTE) / (toMs - fromMs))
  return {
    ...of,
    counts,
    callsPerDay: perDay(counts.calls) + RELAYER_CALLS_PER_DAY,
    pushesPerDay: perDay(counts.pushes),
    markets: data.length,
    longestMs: Math.max(0, ...told.map(({ cpuMs }) => cpuMs)),
    withCollectionMs: Math.max(0, ...told.map(({ withCollectionMs }) => withCollectionMs)),
    withStolenMs: Math.max(0, ...told.map(({ withStolenMs }) => withStolenMs)),
  }
}

/** Adds up the bills of several providers. */
function sumOf(bills: readonly BilledCounts[]): Bill {
  const byMethod: Record<string, number> = {}
  for (const bill of bills) {
    for (const [method, calls] of Object.entries(bill.byMethod)) byMethod[method] = (byMethod[method] ?? 0) + calls
  }
  const total = (name: 'calls' | 'requests' | 'units' | 'pushes') => bills.reduce((sum, bill) => sum + bill[name], 0)
  return {
    calls: total('calls'),
    requests: total('requests'),
    units: total('units'),
    pushes: total('pushes'),
    byMethod,
  }
}

function print(measured: readonly Measured[], minutes: number, trades: number): boolean {
  const { markets } = measured[0]!
  console.log(
    `Calls of a service that follows 483 pairs (${markets} markets), 4 collaterals and ${trades} trades, over ${minutes} minutes`,
  )
  for (const { name, counts } of measured) {
    console.log(`${name}: ${counts.calls} calls in ${counts.requests} requests, ${counts.units} units`)
    console.table(counts.byMethod)
  }
  const idle = measured[0]!
  for (const { name, callsPerDay } of measured.filter(({ withTrader }) => withTrader)) {
    console.log(`${name}: ${callsPerDay - idle.callsPerDay} calls a day more than idle`)
  }
  const rows = measured.map((one) => {
    const { name, withSockets, withTrader, callsPerDay, pushesPerDay, longestMs, withCollectionMs, withStolenMs } = one
    const idleLimit = withSockets ? MAX_CALLS_PER_DAY : MAX_CALLS_PER_DAY_WITHOUT_SOCKET
    const limit = withTrader ? idleLimit + MAX_CALLS_PER_TRADER : idleLimit
    const met = callsPerDay <= limit && longestMs <= MAX_PIECE_MS
    return {
      what: name,
      'calls a day': callsPerDay,
      limit,
      'pushes a day': pushesPerDay,
      'longest piece, ms': longestMs.toFixed(1),
      'with garbage collected, ms': withCollectionMs.toFixed(1),
      'with processors taken, ms': withStolenMs.toFixed(1),
      met,
    }
  })
  console.table(Object.fromEntries(rows.map(({ what, ...row }) => [what, row])))
  return rows.every(({ met }) => met)
}
