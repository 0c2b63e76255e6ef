import type { Hex } from '@bezel/protocol'
import type { Sql } from '../../store/sql.ts'
import { createFailures } from './failures.ts'
import { enqueueAction, type ActionToRelay } from './enqueueAction.ts'
import { fillHoles, skipForeignNonces } from './fillHoles.ts'
import { healLost } from './healLost.ts'
import { keepMined } from './keepMined.ts'
import { loadEntries, openNonces } from './loadEntries.ts'
import { dueSends, lookAtNode } from './lookAtNode.ts'
import { relayerHealth } from './relayerHealth.ts'
import { reserveOf } from './relayEntry.ts'
import type { RelayerHealth } from './relayer.ts'
import { createRelayMemory, type RelayContext, type RelayMemory } from './relayContext.ts'
import { renewEntries } from './renewEntries.ts'

/** The work of a relayer, step by step, for whoever has a clock. */
export interface Relaying {
  enqueue(sql: Sql, of: ActionToRelay): Promise<{ readonly hash: Hex }>
  /** Resolves when a node has the bytes, or the entry is settled otherwise. */
  taken(hash: Hex): Promise<void>
  /**
   * One look at the node and all that follows from it. Whether there is more to do at once. A failure at any point leaves nothing half done: what
   * is remembered is dropped and found out again from the store and the node.
   */
  step(): Promise<boolean>
  onFailed(hash: Hex, listener: () => void): () => void
  health(): RelayerHealth
  /** Lets go of whoever waits. */
  release(): void
}

/**
 * Why an attempt is mined at most once. All versions of an entry have one nonce, and a chain takes a nonce once. An attempt has one entry, which
 * the schema demands of all that are not `lost`; and an entry is `lost` with another in its place only when the transaction that used its nonce
 * was found, as somebody else's, in a block that is never undone (`healLost`). Why none is forgotten: nonce and bytes are committed with the order,
 * before anybody sees them; every step sends what is live in the store and not on the chain; and only a receipt at finality depth ends it.
 */
export function createRelaying(context: RelayContext): Relaying {
  let memory = createRelayMemory()
  let isOpen = false
  const waiting = new Map<Hex, (() => void)[]>()
  const failures = createFailures()

  async function step(): Promise<boolean> {
    try {
      return await work()
    } catch (error) {
      memory = forgetful(memory)
      throw error
    }
  }

  async function work(): Promise<boolean> {
    const waitedFor = [...waiting.keys()]
    if (!isOpen) await openNonces(context, memory)
    isOpen = true
    await loadEntries(context, memory)
    const usedBefore = memory.usedNonces
    const found = await lookAtNode(context, memory)
    await keepMined(context, memory, found)
    failures.look(memory)
    await skipForeignNonces(context, memory)
    const isRenewed = await renewEntries(context, memory)
    const isFilled = await fillHoles(context, memory)
    memory.outstandingWei = unminedWei(context, memory)
    tell(waitedFor)
    const isHealed = await healLost(context, memory)
    return isRenewed || isFilled || isHealed || usedBefore !== memory.usedNonces || dueSends(context, memory).length > 0
  }

  /** Whoever waited before the entries were read and whose entry is taken, mined or gone. */
  function tell(waitedFor: readonly Hex[]): void {
    for (const hash of waitedFor) {
      const tracked = memory.tracked.get(memory.nonceByHash.get(hash) ?? -1)
      if (tracked !== undefined && !tracked.isTaken && tracked.mined === undefined) continue
      release(hash)
    }
  }

  function release(hash: Hex): void {
    for (const resolve of waiting.get(hash) ?? []) resolve()
    waiting.delete(hash)
  }

  return {
    enqueue: async (sql, of) => ({ hash: await enqueueAction(sql, context, memory, of) }),
    taken: (hash) =>
      new Promise((resolve) => {
        waiting.set(hash, [...(waiting.get(hash) ?? []), resolve])
      }),
    step,
    onFailed: failures.listen,
    health: () => relayerHealth(context, memory),
    release() {
      for (const hash of waiting.keys()) release(hash)
    },
  }
}

function unminedWei({ settings }: RelayContext, { tracked }: RelayMemory): bigint {
  let wei = 0n
  for (const { entry, mined } of tracked.values()) if (mined === undefined) wei += reserveOf(entry, settings.burnGas)
  return wei
}

/** What does not concern entries is as true as before. */
function forgetful(before: RelayMemory): RelayMemory {
  const { market, feesAskedAtMs, balanceWei, hasNoFunds, outstandingWei, nonces, counts } = before
  return { ...createRelayMemory(), market, feesAskedAtMs, balanceWei, hasNoFunds, outstandingWei, nonces, counts }
}
