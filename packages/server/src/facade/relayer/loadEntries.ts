import { NodeUnavailableError } from '../../ground/unavailable.ts'
import { listRelayEntries, relayNonces, skipRelayNonces } from '../../store/relayStore.ts'
import { quantity } from '../../chain/chainJson.ts'
import { resultOf } from '../../chain/chainCalls.ts'
import type { RpcCall } from '../../chain/rpcClient.ts'
import { track, type RelayContext, type RelayMemory } from './relayContext.ts'

/** Read at a time. */
const MAX_ENTRIES_PER_READ = 500

/** More than anybody leaves waiting: a node that says so is wrong. */
export const MAX_NONCE_JUMP = 1_000

/**
 * Once per process: where the sequence of nonces begins, or goes on when somebody else used the key meanwhile. What waits elsewhere counts as
 * used: if it never comes, the hole is filled.
 */
export async function openNonces(context: RelayContext, memory: RelayMemory): Promise<void> {
  const { client, store, sender, log } = context
  const outcomes = await client.batch([usedNoncesCall(context, 'latest'), usedNoncesCall(context, 'pending')])
  const latest = quantity(resultOf(outcomes[0]))
  const pending = outcomes[1]?.ok === true ? quantity(outcomes[1].result) : latest
  const next = Math.max(latest, pending)
  if (next - latest > MAX_NONCE_JUMP) throw new NodeUnavailableError('the node counts nonces that nobody can have used')
  const stored = await relayNonces(store.read, sender)
  if (stored !== undefined && next > stored.next) {
    log.error(
      { ...sender, next, stored: stored.next },
      'the key of the relayer was used elsewhere: give it to one deployment only',
    )
  }
  await store.transaction((sql) => skipRelayNonces(sql, sender, { first: Math.min(latest, pending), next }))
  memory.nonces = await relayNonces(store.read, sender)
}

export function usedNoncesCall({ sender }: RelayContext, block: string): RpcCall {
  return { method: 'eth_getTransactionCount', params: [sender.sender, block] }
}

/** Takes up what was committed since the last time: nonces are given out in the order of commits. */
export async function loadEntries({ store, sender }: RelayContext, memory: RelayMemory): Promise<void> {
  // Before the entries: one that is committed in between is read again next time.
  const nonces = await relayNonces(store.read, sender)
  for (let from: number | undefined = memory.loadedTo; from !== undefined;) {
    const read = await listRelayEntries(store.read, sender, { from, limit: MAX_ENTRIES_PER_READ })
    for (const entry of read) if (!memory.tracked.has(entry.nonce)) track(memory, entry)
    from = read.length < MAX_ENTRIES_PER_READ ? undefined : read.at(-1)!.nonce + 1
  }
  memory.nonces = nonces
  memory.loadedTo = nonces?.next ?? 0
}
