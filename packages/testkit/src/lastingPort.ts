import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'

/**
 * The range to draw from. Linux hands out ports above 32,767 to whoever asks for any, so one of those could be another
 * program's before the service has it, or between the end of one service and the start of the next.
 */
const FIRST_PORT = 20_000
const AFTER_LAST_PORT = 30_000

/** Returns a free port that nobody gets who does not name it, for a program that starts later, or again and again. */
export async function lastingPort(): Promise<number> {
  for (;;) {
    const port = randomInt(FIRST_PORT, AFTER_LAST_PORT)
    if (await isFree(port)) return port
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer()
    probe.once('error', () => resolve(false))
    probe.listen({ host: '127.0.0.1', port, exclusive: true }, () => probe.close(() => resolve(true)))
  })
}
