import { StoreUnavailableError } from '../../ground/unavailable.ts'
import type { FastifyBaseLogger } from 'fastify'
import { createDueCancels } from './dueCancels.ts'
import type { TradingParts } from './exchangeParts.ts'
import { createReclaims } from './reclaims.ts'

/** What the facade of one chain does without being asked: scheduled cancels, and reclaims of what timed out. */
export interface Chores {
  close(): Promise<void>
}

/** A round in which nothing is due is two indexed reads. */
const ROUND_MS = 500

export function startChores(parts: TradingParts, log: Pick<FastifyBaseLogger, 'warn' | 'error'>): Chores {
  const dueCancels = createDueCancels(parts)
  const reclaims = createReclaims(parts)
  const { slug: chain } = parts.orders.chain
  let isClosed = false
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> = Promise.resolve()
  schedule()

  async function round(): Promise<void> {
    try {
      await dueCancels.run(log)
      await reclaims.run(log)
    } catch (error) {
      // A store that is full or locked is told by every request already; the round just comes again.
      if (!(error instanceof StoreUnavailableError))
        log.error({ chain, err: error }, 'the facade could not do its chores')
    }
  }

  function schedule(): void {
    timer = setTimeout(() => {
      running = round().finally(() => {
        if (!isClosed) schedule()
      })
    }, ROUND_MS)
  }

  return {
    async close() {
      isClosed = true
      clearTimeout(timer)
      await running
    },
  }
}
