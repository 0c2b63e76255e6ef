import assert from 'node:assert/strict'
import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { CLOSE_CODES } from '@bezel/protocol'
import { until } from '@bezel/testkit/until.ts'
import { startDevnet, type RunningDevnet } from '@bezel/testkit/startDevnet.ts'
import { KINDS, missingKinds } from './streamCampaign/kinds.ts'
import { STARVED } from './streamCampaign/kind.ts'
import { openHostile } from './streamCampaign/hostileSocket.ts'
import { startMeasuredService, type MeasuredService } from './streamCampaign/measuredService.ts'
import { runStreamCampaign, type Comparison, type StreamCampaignReport } from './streamCampaign/runStreamCampaign.ts'

const { env } = process
/** Length of the attack. By default just long enough for the service to close silent clients. */
const ATTACK_MS = Number(env['CAMPAIGN_MINUTES'] ?? 0.8) * 60_000
/** True for a long campaign, which also measures and needs a quiet machine. */
const IS_MEASURED = ATTACK_MS > 60_000
/** Factor of the pauses between attacks. A short campaign makes fewer of each kind, for the sake of the other tests. */
const PAUSES = IS_MEASURED ? 1 : 4
const CALM_MS = IS_MEASURED ? 30_000 : 5_000
const SEED = Number(env['CAMPAIGN_SEED'] ?? 1)
const TIMEOUT_MS = ATTACK_MS + 2 * CALM_MS + 1_200_000

const MAX_GROWTH_BYTES = 50 * 1024 * 1024
const MAX_SLOWDOWN = 2
/** Latency below which a doubling is ordinary noise of the machine. */
const FLOOR_MS = 15
const MIN_ORDERS = IS_MEASURED ? ATTACK_MS / 10_000 : 1
const SOCKETS_PER_IP = 50
const IDLE = String(CLOSE_CODES.idle)
const MAX_PROBLEMS_SHOWN = 20

/** The limits are high because all hostile clients come from one address here. */
const CAMPAIGN_SETTINGS = {
  BEZEL_STREAM_CONNECTIONS_PER_IP: '10000',
  BEZEL_CONNECTIONS_PER_IP: '10000',
  BEZEL_OVERLOAD_PERCENT: '0',
  BEZEL_IP_LIMIT: '1000000',
  BEZEL_AGENT_LIMIT: '1000000',
  BEZEL_AGENT_WRITE_LIMIT: '1000000',
  BEZEL_MAX_PREPARED_ORDERS: '10000',
}

describe('the stream beside hostile clients', () => {
  let devnet: RunningDevnet
  let attacked: MeasuredService
  let asDelivered: MeasuredService

  before(async () => {
    devnet = await startDevnet()
    const data = mkdtempSync(join(devnet.folder, 'as-delivered-'))
    const chainsFile = join(devnet.folder, 'devnet.json')
    const starting = [
      startMeasuredService({ BEZEL_DATA: devnet.folder, ...CAMPAIGN_SETTINGS }).then((service) => (attacked = service)),
      startMeasuredService({ BEZEL_DATA: data, BEZEL_CHAINS_FILE: chainsFile }).then(
        (service) => (asDelivered = service),
      ),
    ]
    await Promise.allSettled(starting)
    await Promise.all(starting)
  })
  after(async () => {
    await attacked?.stop()
    await asDelivered?.stop()
    await devnet?.stop()
  })

  it(`has ${SOCKETS_PER_IP} sockets for an IP, and no more`, async () => {
    const open = () => openHostile(asDelivered.url)
    const sockets = await Promise.all(Array.from({ length: SOCKETS_PER_IP }, open))
    assert.deepEqual(
      sockets.flatMap(({ heard }) => [...heard]),
      [],
    )
    const refused = await open()
    assert.deepEqual([...refused.heard], ['HTTP 429'])
    await sockets[0]!.leave()
    const next = await until('a place is free again', async () => {
      const socket = await open()
      return socket.heard.size === 0 ? socket : undefined
    })
    for (const socket of [next, ...sockets]) socket.destroy()
    await asDelivered.stop()
    assert.deepEqual(asDelivered.complaints, [])
  })

  it('serves the good ones as if the others were not there', { timeout: TIMEOUT_MS }, async () => {
    console.log(`CAMPAIGN_SEED=${SEED} CAMPAIGN_MINUTES=${ATTACK_MS / 60_000}`)
    const of = { devnet, service: attacked, seed: SEED, attackMs: ATTACK_MS, pauses: PAUSES, calmMs: CALM_MS }
    const report = await runStreamCampaign(of)
    show(report)
    assert.deepEqual(report.problems.slice(0, MAX_PROBLEMS_SHOWN), [])
    assert.deepEqual(problemsOfEnds(report), [])
    assert.ok(report.orders >= MIN_ORDERS, 'too few orders flowed')
    assert.deepEqual(report.missingOrders, [], 'orders that the stream never told')
    if (IS_MEASURED) {
      assert.ok(isKept(report.ticks), `prices came late: ${JSON.stringify(report.ticks)}`)
      assert.ok(isKept(report.pings), `pongs came late: ${JSON.stringify(report.pings)}`)
    }
    assert.ok(growth(report) < MAX_GROWTH_BYTES, `memory grew by ${megabytes(growth(report))}`)
    const { before: alone, after: aloneAgain } = report.metrics
    assert.equal(alone.sockets, 1)
    assert.deepEqual([aloneAgain.sockets, aloneAgain.subscriptions], [1, alone.subscriptions])
  })
})

/** Returns the kinds of client that were answered differently from the documentation, or not at all. */
function problemsOfEnds({ ends, metrics }: StreamCampaignReport): string[] {
  const problems = missingKinds(ends, ATTACK_MS).map((name) => `${name} was told nothing`)
  for (const [name, seen] of Object.entries(ends)) {
    const others = Object.keys(seen).filter((end) => end !== STARVED && !KINDS[name]!.ends.includes(end))
    problems.push(...others.map((end) => `${name} was told ${end}`))
  }
  // Clients that never read can't report their close code, but the metrics count them.
  const told = Object.values(ends).reduce((sum, seen) => sum + (seen[IDLE] ?? 0), 0)
  const closed = metrics.after.closed[IDLE] ?? 0
  if (closed <= told) problems.push(`${closed} sockets were closed for their silence, and ${told} of them read it`)
  return problems
}

function isKept({ calmMs, attackedMs }: Comparison): boolean {
  return Math.max(attackedMs, FLOOR_MS) <= MAX_SLOWDOWN * Math.max(calmMs, FLOOR_MS)
}

function growth({ memory }: StreamCampaignReport): number {
  return memory.after.rss - memory.before.rss
}

function megabytes(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(1)} MB`
}

function show(report: StreamCampaignReport): void {
  console.log('problems', report.problems.length, report.problems.slice(0, MAX_PROBLEMS_SHOWN))
  const { memory, ticks, pings, metrics, mostSockets, slowestHealthMs, orders } = report
  for (const [name, ends] of Object.entries(report.ends)) console.log(name.padEnd(18), JSON.stringify(ends))
  console.log('closed', JSON.stringify(metrics.after.closed), 'most sockets', mostSockets)
  for (const { rss, heapUsed, external } of [memory.before, ...memory.during, memory.after]) {
    console.log('memory', megabytes(rss), 'heap', megabytes(heapUsed), 'external', megabytes(external))
  }
  console.log('p99 in ms: prices', JSON.stringify(ticks), 'pongs', JSON.stringify(pings))
  console.log('slowest /health in ms', slowestHealthMs.toFixed(0), 'orders', orders)
}
