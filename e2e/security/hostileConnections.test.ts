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
const ATTACKS = {
  slow: 'that never end their headers',
  huge: 'whose headers have no end',
  halfClosed: 'that are half closed in the middle of a request',
}
const HONEST_REQUESTS = 300
const MEGABYTE = 2 ** 20
/** The memory that they may take for good. */
const MAX_GROWN_BYTES = 50 * MEGABYTE

describe('connections', () => {
  let devnet: RunningDevnet
  let service: RunningService

  before(async () => {
    devnet = await startDevnet()
    service = await startService(devnet, {
      NODE_OPTIONS: `--import ${new URL('collectOnSignal.ts', import.meta.url)}`,
      BEZEL_CONNECTIONS_PER_IP: '250',
      BEZEL_IP_LIMIT: '1000000',
    })
  })
  after(async () => {
    await service?.stop()
    await devnet?.stop()
  })

  /** Reads what the service holds after it has collected its garbage, and what it has of the machine. */
  async function memory(): Promise<{ readonly held: number; readonly resident: number }> {
    process.kill(service.pid, 'SIGWINCH')
    const text = await (await fetch(`${service.url}/metrics`)).text()
    const read = (name: string): number => Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)![1])
    const held = read('nodejs_heap_size_used_bytes') + read('nodejs_external_memory_bytes')
    return { held, resident: read('process_resident_memory_bytes') }
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

  for (const [attack, what] of Object.entries(ATTACKS)) {
    it(`${what} are closed, keep nobody out, and leave nothing behind`, async (test) => {
      await askHonestly()
      const [calmMs, calm] = [await askHonestly(), await memory()]
      const args = [new URL(service.url).port, attack, String(CONNECTIONS)]
      const attacker = fork(new URL('hostileSockets.ts', import.meta.url), args)
      try {
        let [left] = (await once(attacker, 'message')) as [number]
        attacker.on('message', (open: number) => (left = open))
        const [besideMs, beside] = [await askHonestly(), await memory()]
        await until('the service has closed all of them', async (saw) => {
          saw(left)
          return left === 0
        })
        await until('the memory is given back', async (saw) => {
          const { held } = await memory()
          saw(held - calm.held)
          return held - calm.held <= MAX_GROWN_BYTES
        })
        const grown = ((beside.resident - calm.resident) / MEGABYTE).toFixed(1)
        test.diagnostic(`${CONNECTIONS}: p99 ${calmMs.toFixed(1)} ms, beside them ${besideMs.toFixed(1)} ms`)
        test.diagnostic(`memory of the process beside them: ${grown} MB more`)
      } finally {
        attacker.kill('SIGKILL')
      }
    })
  }
})
