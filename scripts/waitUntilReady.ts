import { setTimeout as sleep } from 'node:timers/promises'
import { StartupError } from '@bezel/protocol'

const POLL_MS = 50
const READY_TIMEOUT_MS = 120_000

/** Resolves when `GET /ready` of the service answers 200. Throws a `StartupError` when it takes too long. */
export async function waitUntilReady(url: string, stop: AbortSignal): Promise<void> {
  const deadlineMs = Date.now() + READY_TIMEOUT_MS
  let lastAnswer = 'nothing'
  while (Date.now() < deadlineMs) {
    stop.throwIfAborted()
    try {
      const answer = await fetch(`${url}/ready`, { signal: AbortSignal.timeout(READY_TIMEOUT_MS) })
      lastAnswer = await answer.text()
      if (answer.status === 200) return
    } catch (error) {
      lastAnswer = (error as Error).message
    }
    await sleep(POLL_MS)
  }
  throw new StartupError(
    `The service was not ready within ${READY_TIMEOUT_MS / 1000} s; its last answer was ${lastAnswer}`,
  )
}
