import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { closeSockets, createPulse, type Pulse } from './heartbeat.ts'
import { DEFAULT_BOUNDS } from '../bounds.ts'

describe('closeSockets', () => {
  /** Closes sockets whose clients answer at once. Returns the number that was closed at each pause. */
  async function closedAtPauses(sockets: number, spreadMs: number): Promise<number[]> {
    const pulses = new Set<Pulse>()
    const codes: number[] = []
    for (let at = 0; at < sockets; at++) {
      const close = (code: number): void => {
        codes.push(code)
        pulses.delete(pulse)
      }
      const connection = { close, offer: () => true, terminate: assert.fail, bytesLeft: () => undefined, isOpen: true }
      const pulse = createPulse({ connection, session: { checkCaller: () => undefined } } as never, 0, DEFAULT_BOUNDS)
      pulses.add(pulse)
    }
    const counts: number[] = []
    await closeSockets(pulses, spreadMs, async (pauseMs) => void counts.push(codes.length, pauseMs))
    assert.deepEqual(
      codes,
      Array.from({ length: sockets }, () => 1012),
    )
    assert.ok(counts.every((count, at) => at % 2 === 0 || count === 50))
    return counts.filter((_, at) => at % 2 === 0)
  }

  it('closes them all at once without a time to spread them over', async () => {
    assert.deepEqual(await closedAtPauses(1_000, 0), [])
    assert.deepEqual(await closedAtPauses(0, 10_000), [])
  })

  it('closes them evenly over the time', async () => {
    assert.deepEqual(await closedAtPauses(5, 250), [1, 2, 3, 4])
    const counts = await closedAtPauses(1_000, 10_000)
    assert.deepEqual(
      counts,
      Array.from({ length: 199 }, (_, step) => (step + 1) * 5),
    )
    // Few sockets are not closed together either.
    assert.deepEqual((await closedAtPauses(2, 250)).at(-1), 1)
  })
})
