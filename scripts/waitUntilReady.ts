import { setTimeout as sleep } from 'node:timers/promises'
import { StartupError } from '@bezel/protocol'

/** Pause between two requests. They count against the limit of this machine, whose user is about to begin. */
const POLL_MS = 250
const READY_TIMEOUT_MS = 120_000

/**
 * Resolves when `GET /ready` of the service answers 200. Throws a `StartupError` when it takes too long. `progress` is
 * told which chains it waits for, each time that changes.
 */
export async function waitUntilReady(url: string, stop: AbortSignal, progress: (line: string) => void): Promise<void> {
  const deadlineMs = Date.now() + READY_TIMEOUT_MS
  let lastAnswer = 'nothing'
  let lastTold: string | undefined
  while (Date.now() < deadlineMs) {
    stop.throwIfAborted()
    try {
      const answer = await fetch(`${url}/ready`, { signal: AbortSignal.timeout(READY_TIMEOUT_MS) })
      lastAnswer = await answer.text()
      if (answer.status === 200) return
    } catch (error) {
      lastAnswer = (error as Error).message
    }
    const waiting = waitingLine(lastAnswer)
    if (waiting !== undefined && waiting !== lastTold) progress(waiting)
    lastTold = waiting
    await sleep(POLL_MS)
  }
  throw new StartupError(
    `The service was not ready within ${READY_TIMEOUT_MS / 1000} s; its last answer was ${lastAnswer}`,
  )
}

/** Returns a line about the chains that an answer of `/ready` calls not ready; `undefined` when it names none. */
function waitingLine(answer: string): string | undefined {
  let states: { readonly ready: boolean; readonly reason?: string }[]
  try {
    states = Object.values((JSON.parse(answer) as { chains?: object }).chains ?? {})
  } catch {
    return undefined
  }
  const waiting = states.filter(({ ready }) => !ready)
  const reasons = [...new Set(waiting.map(({ reason }) => reason))].join(', ')
  return waiting.length === 0 ? undefined : `Waiting for ${waiting.length} of ${states.length} chains (${reasons}) ...`
}
