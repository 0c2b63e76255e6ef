import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { Address } from '@bezel/protocol'
import { storeBusyTrader } from '@bezel/testkit/busyTrader.ts'
import { createChainClient, tradeOf, type ChainClient } from '@bezel/testkit/chainClient.ts'
import { startDevnet } from '@bezel/testkit/startDevnet.ts'
import { startService, type RunningService } from '@bezel/testkit/startService.ts'
import { zeroAddress } from 'viem'
import { openBenchAgent, type BenchAgent } from './client/benchAgent.ts'
import type { FloodAnswers, FloodJob, FloodRequest } from './flood/flooder.ts'
import { median } from './measure/median.ts'
import { timed } from './measure/timed.ts'

// Compares how long `/health` and a signed close take beside attackers with how long they take on an idle service.
//
// The attackers (flood/flooder.ts) stay within the limit of their address and ask for the most expensive things that
// are known: the lists of a trader with 10,000 fills, old candles, bodies that are wrong everywhere. The service runs
// with its default limits and its overload guard. Printed are the median and the longest time, and the answers that the
// attackers got by status.

const CHAIN = 'arbitrum-sepolia'
const FILLS = 10_000
const RESTING = 1_000
const PRICE = 60_000n
const SAMPLES = 40
const PAUSE_MS = 250
/** Time for the guard to see a flood, before times are taken. */
const SETTLE_MS = 5_000

/** Numbers of attackers. One within its limit must hardly be felt; the last are more than one process can serve. */
const FLOODS = [0, 1, 10, 60]

/** The most that `/health` and a close may take beside one attacker, as a multiple of the idle median, plus 25 ms. */
const ONE_LIMIT = 2
const ONE_SLACK_MS = 25

const SETTINGS = {
  LOG_LEVEL: 'warn',
  BEZEL_OVERLOAD_PERCENT: '95',
  BEZEL_MAX_PREPARED_ORDERS: '10000',
  BEZEL_AGENT_LIMIT: '100000',
  BEZEL_AGENT_WRITE_LIMIT: '100000',
  // The measuring client has one address for everything it asks.
  BEZEL_IP_LIMIT: '600',
}

interface Row {
  readonly attackers: number
  readonly healthMs: readonly number[]
  readonly closeMs: readonly number[]
  readonly answers: FloodAnswers
}

/** Prints the table. Returns true when one attacker is hardly felt. */
export async function run(): Promise<boolean> {
  const folder = mkdtempSync(join(tmpdir(), 'bezel-bench-'))
  const devnet = await startDevnet()
  const chain = createChainClient(devnet.file)
  await chain.control('bezel_freezePrice', 'BTC/USD', true)
  await chain.control('bezel_setPrice', 'BTC/USD', String(PRICE))
  const busy = chain.account('trader-2').address as Address
  await storeBusyTrader(folder, { chain: CHAIN, trader: busy, fills: FILLS, resting: RESTING })
  const files = { BEZEL_DATA: folder, BEZEL_CHAINS_FILE: join(devnet.folder, 'devnet.json') }
  const service = await startService(devnet, { ...SETTINGS, ...files })
  const agent = await openBenchAgent({ devnet, chain, url: service.url }, 1)
  const position = await openPosition(chain, agent)
  const flooder = fork(new URL('./flood/flooder.ts', import.meta.url))
  const rows: Row[] = []
  for (const attackers of FLOODS) {
    await flood(flooder, service, attackers, busy)
    await wait(SETTLE_MS)
    const times = await measure(service, agent, position)
    rows.push({ attackers, ...times, answers: await flood(flooder, service, 0, busy) })
  }
  flooder.kill()
  agent.close()
  await service.stop()
  await devnet.stop()
  rmSync(folder, { recursive: true, force: true })
  return print(rows)
}

async function openPosition(chain: ChainClient, agent: BenchAgent): Promise<string> {
  const trader = chain.account('trader-1')
  await chain.send(trader, 'openTrade', [tradeOf(chain, trader.address, { price: PRICE }), 5_000, zeroAddress])
  for (;;) {
    const path = `/account/${agent.trader}/positions`
    const { body } = await agent.ask({ operation: 'listPositions', method: 'GET', path })
    if (body.data.length > 0) return body.data[0].id as string
    await wait(PAUSE_MS)
  }
}

/** Sets the number of attackers. Returns the answers that those before it got. */
async function flood(
  flooder: ChildProcess,
  { url }: RunningService,
  addresses: number,
  user: Address,
): Promise<FloodAnswers> {
  const told = once(flooder, 'message')
  const job: FloodJob = { port: Number(new URL(url).port), addresses, requests: worstRequests(user) }
  flooder.send(job)
  return (await told)[0] as FloodAnswers
}

function worstRequests(user: Address): readonly FloodRequest[] {
  const info = (type: string, weight: number, more: object = {}): FloodRequest => ({
    method: 'POST',
    path: `/hl/${CHAIN}/info`,
    body: JSON.stringify({ type, user, ...more }),
    weight,
  })
  const many = Object.fromEntries(Array.from({ length: 5_000 }, (_, at) => [`x${at}`, 1]))
  return [
    ...Array.from({ length: 10 }, (_, at) => info('userFillsByTime', 10, { startTime: at })),
    info('historicalOrders', 10),
    info('webData2', 5),
    info('candleSnapshot', 10, { req: { coin: 'BTC', interval: '3m', startTime: 0 } }),
    { method: 'POST', path: `/v1/${CHAIN}/agents`, body: JSON.stringify(many), weight: 1 },
  ]
}

async function measure(
  { url }: RunningService,
  agent: BenchAgent,
  position: string,
): Promise<Pick<Row, 'healthMs' | 'closeMs'>> {
  const [healthMs, closeMs]: [number[], number[]] = [[], []]
  const close = { operation: 'closePosition', method: 'POST', path: `/positions/${position}/close`, body: {} } as const
  for (let sample = 0; sample < SAMPLES; sample += 1) {
    healthMs.push(await timed(async () => (await fetch(`${url}/health`)).text()))
    closeMs.push((await agent.ask(close)).ms)
    await wait(PAUSE_MS)
  }
  return { healthMs, closeMs }
}

function print(rows: readonly Row[]): boolean {
  console.log(`Milliseconds of /health and of a signed close beside attackers, ${SAMPLES} samples`)
  const round = (ms: number): number => Math.round(ms * 10) / 10
  console.table(
    Object.fromEntries(
      rows.map(({ attackers, healthMs, closeMs, answers }) => [
        attackers === 0 ? 'idle' : `${attackers} attackers`,
        {
          health: round(median(healthMs)),
          'health, longest': round(Math.max(...healthMs)),
          close: round(median(closeMs)),
          'close, longest': round(Math.max(...closeMs)),
          answers: JSON.stringify(answers),
        },
      ]),
    ),
  )
  const [idle, one] = rows
  const isHardlyFelt = (of: (row: Row) => readonly number[]): boolean =>
    median(of(one!)) <= median(of(idle!)) * ONE_LIMIT + ONE_SLACK_MS
  return isHardlyFelt(({ healthMs }) => healthMs) && isHardlyFelt(({ closeMs }) => closeMs)
}
