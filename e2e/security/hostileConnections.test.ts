import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import process from 'node:process'
import { after, before, describe, it } from 'node:test'
import { startDevnet, type RunningDevnet } from '@bezel/testkit/startDevnet.ts'
import { startService, type RunningService } from '@bezel/testkit/startService.ts'
import { until } from '@bezel/testkit/until.ts'

// Connections that only cost, opened by another process. CAMPAIGN=10000 opens so many at a time.

const CONNECTIONS = Number(process.env['CAMPAIGN'] ?? 1_000)
/** Connections that the service may have: it keeps at most a fifth of them unfinished, and half of them idle. */
const MAX_CONNECTIONS = 1.5 * CONNECTIONS
const MAX_UNFINISHED = Math.min(250, MAX_CONNECTIONS / 5)
const MAX_IDLE = Math.min(2_000, MAX_CONNECTIONS / 2)
/** Connections of the service's own: to its chain and its feed, and those of the honest client. */
const OTHER_CONNECTIONS = 50
const ATTACKS = {
  slow: { what: 'that never end their headers', most: MAX_UNFINISHED },
  secondHead: { what: 'that have an answer and then never end their headers', most: MAX_IDLE },
  body: { what: 'that never end their bodies', most: MAX_UNFINISHED },
  pipelinedBody: { what: 'that never end the body behind another request', most: MAX_UNFINISHED },
  manyHeaders: { what: 'that send many small headers', most: 0 },
  huge: { what: 'whose headers have no end', most: 0 },
  halfClosed: { what: 'that are half closed in the middle of a request', most: 0 },
}
/** Requests of somebody honest beside them. Those of a campaign take about ten seconds: a percentile needs many. */
const HONEST_REQUESTS = CONNECTIONS > 1_000 ? 3_000 : 300
const MEGABYTE = 2 ** 20
/** The memory that they may take for good. */
const MAX_GROWN_BYTES = 50 * MEGABYTE

const megabytes = (bytes: number): string => (bytes / MEGABYTE).toFixed(1)

describe('connections', () => {
  let devnet: RunningDevnet
  let service: RunningService

  before(async () => {
    devnet = await startDevnet()
    service = await startService(devnet, {
      NODE_OPTIONS: `--import ${new URL('collectOnSignal.ts', import.meta.url)}`,
      BEZEL_CONNECTIONS: String(MAX_CONNECTIONS),
      BEZEL_CONNECTIONS_PER_IP: '250',
      BEZEL_IP_LIMIT: '1000000',
    })
  })
  after(async () => {
    await service?.stop()
    await devnet?.stop()
  })

  /** Reads what the service holds after a collection of garbage, what it has of the machine, and its connections. */
  async function readUse(): Promise<{ readonly held: number; readonly resident: number; readonly open: number }> {
    process.kill(service.pid, 'SIGWINCH')
    const text = await (await fetch(`${service.url}/metrics`)).text()
    const read = (name: string): number => Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)![1])
    const held = read('nodejs_heap_size_used_bytes') + read('nodejs_external_memory_bytes')
    const open = read('nodejs_active_resources\\{type="TCPSocketWrap"\\}')
    return { held, resident: read('process_resident_memory_bytes'), open }
  }

  /** Asks as somebody honest does, and returns the 99th percentile of the times. */
  async function askHonestly(): Promise<number> {
    const times: number[] = []
    for (let n = 0; n < HONEST_REQUESTS; n += 1) {
      const sinceMs = performance.now()
      const answer = await fetch(`${service.url}/v1/arbitrum-sepolia/markets`)
      await answer.arrayBuffer()
      assert.equal(answer.status, 200)
      times.push(performance.now() - sinceMs)
    }
    return times.toSorted((a, b) => a - b)[Math.floor(HONEST_REQUESTS * 0.99)]!
  }

  for (const [attack, { what, most }] of Object.entries(ATTACKS)) {
    it(`${what} are closed, keep nobody out, and leave nothing behind`, async (test) => {
      await askHonestly()
      const [calmMs, calm] = [await askHonestly(), await readUse()]
      const args = [new URL(service.url).port, attack, String(CONNECTIONS)]
      const attacker = fork(new URL('hostileSockets.ts', import.meta.url), args)
      try {
        let [left] = (await once(attacker, 'message')) as [number]
        attacker.on('message', (open: number) => (left = open))
        const [besideMs, beside] = [await askHonestly(), await readUse()]
        assert.ok(beside.open <= most + OTHER_CONNECTIONS, `${beside.open} are open, not ${most}`)
        await until('the service has closed all of them', async (saw) => {
          saw(left)
          return left === 0
        })
        await until('the memory is given back', async (saw) => {
          const { held } = await readUse()
          saw(held - calm.held)
          return held - calm.held <= MAX_GROWN_BYTES
        })
        const [held, resident] = [beside.held - calm.held, beside.resident - calm.resident].map(megabytes)
        test.diagnostic(`${CONNECTIONS}: p99 ${calmMs.toFixed(1)} ms, beside them ${besideMs.toFixed(1)} ms`)
        test.diagnostic(`memory beside them: ${held} MB more in use, ${resident} MB more of the machine's`)
      } finally {
        attacker.kill('SIGKILL')
      }
    })
  }
})
