import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { createInterface } from 'node:readline'
import { REPLAY_WINDOW_MS } from './nonceMemory.ts'
import { openTestNonces, START_MS } from './testing/testNonces.ts'

const ROUNDS = Number(process.env['NONCE_KILLS'] ?? 4)
const CHILD = join(import.meta.dirname, 'testing/claimUntilKilled.ts')

interface Told {
  readonly nonce: string
  readonly timestampMs: number
}

/** Kills a child process after `count` claims and returns the claims that it reported. */
async function claimsOfKilledChild(args: readonly string[], count: number): Promise<Told[]> {
  const child = spawn(process.execPath, [CHILD, ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
  const told: Told[] = []
  const exit = once(child, 'exit')
  for await (const line of createInterface(child.stdout)) {
    const [nonce = '', timestamp = ''] = line.split(' ')
    told.push({ nonce, timestampMs: Number(timestamp) })
    if (told.length === count) child.kill('SIGKILL')
  }
  assert.deepEqual(await exit, [null, 'SIGKILL'])
  return told
}

describe('nonces of a killed process', () => {
  it('are all remembered: no claim it told is accepted again', { timeout: 1_200_000 }, async () => {
    const test = await openTestNonces()
    test.nonces.close()
    for (let round = 0; round < ROUNDS; round++) {
      // Up to 80 s of the child's clock, so that kills fall before, after and between rotations.
      const count = 50 + Math.floor(Math.random() * 8_000)
      const told = await claimsOfKilledChild([test.opened.address, test.file, String(test.nowMs + 1)], count)
      test.nowMs = told.at(-1)!.timestampMs
      await test.restart()
      const inWindow = told.filter(({ timestampMs }) => timestampMs >= test.nowMs - REPLAY_WINDOW_MS)
      for (const { nonce, timestampMs } of inWindow) {
        assert.equal(test.read(nonce, timestampMs), false)
      }
      for (const { nonce, timestampMs } of inWindow.slice(-50))
        assert.equal(await test.write(nonce, timestampMs), false)
      assert.ok(told.length >= count && inWindow.length > 0 && test.nowMs > START_MS)
      test.nonces.close()
    }
    await test.remove()
  })
})
