import type { Answer } from './agentClient.ts'
import { until } from './until.ts'

/** Reasons by which a busy machine refuses for a moment what is right; a client repeats. */
const PASSING = ['store_lagging', 'store_unavailable']
/** With those by which a follower, a feed or a node of the chain that got no turn of the processor is told, too. */
export const BUSY = [...PASSING, 'chain_lagging', 'feed_stale', 'starting', 'UPSTREAM_UNAVAILABLE']

/**
 * Asks again, as a client does, while a node knows too little of what others committed, or its store takes too long. On
 * a slow machine both happen without a fault. `ask` signs anew each time: a refused request may have used up its nonce.
 */
export function untilSettled(ask: () => Promise<Answer>, passing: readonly string[] = PASSING): Promise<Answer> {
  return until('an answer that is not refused for a moment', async (saw) => {
    const answer = await ask()
    saw(answer.body)
    const { status, body } = answer
    return status >= 500 && passing.includes(body.details?.reason ?? body.code) ? undefined : answer
  })
}
