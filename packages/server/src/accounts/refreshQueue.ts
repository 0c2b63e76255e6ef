import type { Address } from '@bezel/protocol'

/** Accounts that wait to be read again. One batch is on its way at a time, and nobody waits in it twice. */
export interface RefreshQueue {
  /** Before everybody who waits for a round. */
  soon(trader: Address): void
  /** Resolves when all of them were read, or it was given up. Whether they were. */
  round(traders: Iterable<Address>): Promise<boolean>
  /** Resolves when nothing is on its way. */
  idle(): Promise<void>
}

export interface RefreshQueueOptions {
  /** Rejects when it makes no sense to ask for the others now. */
  readonly read: (traders: readonly Address[]) => Promise<void>
  readonly batchSize: () => number
  readonly onFailure: (error: unknown) => void
}

export function createRefreshQueue({ read, batchSize, onFailure }: RefreshQueueOptions): RefreshQueue {
  const urgent = new Set<Address>()
  const waiting = new Set<Address>()
  let running: Promise<boolean> | undefined

  function take(): Address[] {
    const batch = [...urgent, ...waiting].slice(0, batchSize())
    for (const trader of batch) {
      urgent.delete(trader)
      waiting.delete(trader)
    }
    return batch
  }

  async function work(): Promise<boolean> {
    // A block touches many accounts; all of them come before this goes on.
    await Promise.resolve()
    try {
      for (let batch = take(); batch.length > 0; batch = take()) await read(batch)
      return true
    } catch (error) {
      // The next round comes by itself; what was missed until then is read by it.
      urgent.clear()
      waiting.clear()
      onFailure(error)
      return false
    } finally {
      running = undefined
    }
  }

  const start = (): Promise<boolean> => (running ??= work())

  return {
    soon(trader) {
      urgent.add(trader)
      void start()
    },
    round(traders) {
      for (const trader of traders) waiting.add(trader)
      return waiting.size === 0 ? Promise.resolve(true) : start()
    },
    async idle() {
      await running
    },
  }
}
