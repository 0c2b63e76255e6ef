import { setTimeout as sleep } from 'node:timers/promises'
import { CLOSE_CODES } from '@bezel/protocol'
import type { Pulse } from './heartbeat.ts'

/** Well-behaved clients answer in a round trip; nobody else is waited for longer. */
const GOODBYE_MS = 1_000
const POLL_MS = 10

/** Closes all sockets with 1001 and, after a moment, without asking. `pulses` loses each when it is gone. */
export async function closeSockets(pulses: ReadonlySet<Pulse>): Promise<void> {
  for (const { connection } of pulses) connection.close(CLOSE_CODES.shutdown, 'shutdown')
  await emptied(pulses, GOODBYE_MS)
  for (const { connection } of pulses) connection.terminate()
  await emptied(pulses, GOODBYE_MS)
}

async function emptied(pulses: ReadonlySet<Pulse>, withinMs: number): Promise<void> {
  for (let waitedMs = 0; pulses.size > 0 && waitedMs < withinMs; waitedMs += POLL_MS) await sleep(POLL_MS)
}
