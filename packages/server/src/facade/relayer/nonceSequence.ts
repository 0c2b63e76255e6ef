import { quantity, resultOf } from '../../chain/blocks.ts'
import type { RpcCall } from '../../chain/rpcClient.ts'
import { NodeUnavailableError } from '../../ground/unavailable.ts'
import { countLiveVersions } from '../../store/relayNodeStore.ts'
import {
  type RelayEntry,
  insertRelayEntry,
  moveRelayEntry,
  skipRelayNonces,
  listRelayEntries,
  readRelayNonces,
} from '../../store/relayStore.ts'
import type { Sql } from '../../store/sql.ts'
import { utcDayOf } from '../../trading/scope.ts'
import { firstFees } from './fees.ts'
import { recountGas } from './gasBudget.ts'
import type { RelayContext } from './relayContext.ts'
import { reserveOf, signVersion } from './relayEntry.ts'
import type { RelayMemory, RelayState } from './relayMemory.ts'

const MAX_ENTRIES_PER_READ = 500

/** The largest plausible number of transactions waiting in the mempool: a node that reports more is wrong. */
const MAX_NONCE_JUMP = 1_000

/** The number of polls that must agree, because a single node behind a load balancer may be wrong. */
const STRANGE_LOOKS = 2

/**
 * Opens the sequence of nonces, once per process: at its start, or further on when somebody else used the key
 * meanwhile. Transactions that wait in the mempool count as used; if one is never mined, its nonce is filled later.
 */
export async function openNonceSequence(context: RelayContext, memory: RelayMemory): Promise<void> {
  const { client, store, sender, log } = context
  const outcomes = await client.batch([usedNoncesCall(context, 'latest'), usedNoncesCall(context, 'pending')])
  const latest = quantity(resultOf(outcomes[0]))
  const pending = outcomes[1]?.ok === true ? quantity(outcomes[1].result) : latest
  const next = Math.max(latest, pending)
  if (next - latest > MAX_NONCE_JUMP) throw new NodeUnavailableError('the node counts nonces that nobody can have used')
  const stored = await readRelayNonces(store.read, sender)
  if (stored !== undefined && next > stored.next) {
    log.error(
      { ...sender, next, stored: stored.next },
      'the key of the relayer was used elsewhere: give it to one deployment only',
    )
  }
  await store.transaction({ chain: sender.chain }, (sql) =>
    skipRelayNonces(sql, sender, { first: Math.min(latest, pending), next }),
  )
  memory.opened(await readRelayNonces(store.read, sender))
}

export function usedNoncesCall({ sender }: RelayContext, block: string): RpcCall {
  return { method: 'eth_getTransactionCount', params: [sender.sender, block] }
}

/** Loads the entries committed since the last call. Nonces are given out in the order of commits. */
export async function loadEntries({ store, sender }: RelayContext, memory: RelayMemory): Promise<void> {
  // Nonces are read before the entries: an entry committed in between is read again next time.
  const nonces = await readRelayNonces(store.read, sender)
  const entries: RelayEntry[] = []
  for (let from: number | undefined = memory.state.loadedTo; from !== undefined;) {
    const read = await listRelayEntries(store.read, sender, { from, limit: MAX_ENTRIES_PER_READ })
    entries.push(...read)
    from = read.length < MAX_ENTRIES_PER_READ ? undefined : read.at(-1)!.nonce + 1
  }
  memory.loaded(entries, nonces)
}

/** Takes over what other processes did to tracked entries: new versions, and ends. */
export async function followStored({ store, sender }: RelayContext, memory: RelayMemory): Promise<void> {
  // Entries that are tracked later than the store is read may be newer than what was read.
  const tracked = [...memory.state.tracked.values()].map(({ entry }) => entry)
  if (tracked.length === 0) return
  const live = await countLiveVersions(store.read, sender)
  const changed: RelayEntry[] = []
  for (const { nonce, versions } of tracked) {
    if ((live.get(nonce) ?? 0) <= versions.length) continue
    const [entry] = await listRelayEntries(store.read, sender, { from: nonce, limit: 1 })
    if (entry?.nonce === nonce) changed.push(entry)
  }
  const gone = tracked.filter(({ nonce }) => !live.has(nonce)).map(({ nonce }) => nonce)
  memory.followed(changed, gone)
}

/** Returns true when the store has entries that were not loaded yet. */
export async function hasNewEntries({ store, sender }: RelayContext, { state }: RelayMemory): Promise<boolean> {
  return ((await readRelayNonces(store.read, sender))?.next ?? 0) > state.loadedTo
}

/** Skips nonces that were used but not given out here, because somebody else uses the key, and logs it. */
export async function skipForeignNonces(context: RelayContext, memory: RelayMemory): Promise<void> {
  const { usedNonces = 0, nonces } = memory.state
  if (nonces === undefined || usedNonces <= nonces.next) {
    memory.compared(false)
    return
  }
  if (usedNonces - nonces.next > MAX_NONCE_JUMP) {
    throw new NodeUnavailableError('the node counts nonces that nobody can have used')
  }
  memory.compared(true)
  if (memory.state.strangeLooks < STRANGE_LOOKS) return
  const { sender, log, store } = context
  log.error(
    { ...sender, usedNonces, next: nonces.next },
    'the key of the relayer is used elsewhere: give it to one deployment only',
  )
  await store.transaction({ chain: sender.chain }, (sql) =>
    skipRelayNonces(sql, sender, { first: nonces.first, next: usedNonces }),
  )
}

/**
 * Fills nonces that stay unused, each of which would block all later ones. Those that were skipped because somebody
 * else seemed to use them are burnt. Those whose transaction counted as final, which a node that lied or a
 * reorganisation beyond finality leads to, are sent again. Returns true when there were any.
 */
export async function fillHoles(context: RelayContext, memory: RelayMemory): Promise<boolean> {
  const holes = holesIn(context, memory.state)
  if (holes.length === 0) return false
  const { store, sender, log } = context
  log.error(
    { ...sender, holes },
    'nonces of the relayer were left open: they are burnt, or sent again where they counted as used',
  )
  const filled = await store.transaction({ chain: sender.chain }, async (sql) => {
    const entries: RelayEntry[] = []
    for (const nonce of holes) {
      const entry = burnOf(context, memory.state, nonce)
      const { countedWei } = entry
      const isNew = await insertRelayEntry(sql, sender, { ...entry, countedWei: 0n })
      const open = isNew ? entry : await reopen(sql, context, nonce)
      if (open === undefined) continue
      const wei = isNew ? countedWei : reserveOf(open, context.settings.burnGas)
      entries.push(await recountGas(sql, sender, open, wei))
    }
    return entries
  })
  memory.filled(filled)
  return filled.length > 0
}

/** Makes the entry of a nonce live again that counted as mined for good; `undefined` when there is none. */
async function reopen(sql: Sql, { sender }: RelayContext, nonce: number): Promise<RelayEntry | undefined> {
  if (!(await moveRelayEntry(sql, sender, { nonce, from: 'done', to: 'live', atMs: null }))) return undefined
  return (await listRelayEntries(sql, sender, { from: nonce, limit: 1 }))[0]
}

/** Returns the nonces without a live entry, from the next unused one on, once that has not changed for long. */
function holesIn(
  { settings, now }: RelayContext,
  { nonces, usedNonces, tracked, lineSinceMs, market }: RelayState,
): number[] {
  if (nonces === undefined || usedNonces === undefined || market === undefined) return []
  const isFirst = usedNonces >= nonces.first && usedNonces < nonces.next && !tracked.has(usedNonces)
  if (!isFirst || now() - lineSinceMs < settings.stuckMs) return []
  const count = Math.min(nonces.next - usedNonces, MAX_NONCE_JUMP)
  return Array.from({ length: count }, (_, i) => usedNonces + i).filter((nonce) => !tracked.has(nonce))
}

function burnOf(context: RelayContext, { market }: RelayState, nonce: number): RelayEntry {
  const { settings, now } = context
  const fees = firstFees(market!, settings)
  const version = signVersion(context, { nonce, action: null }, { number: 0, kind: 'burn', fees })
  const entry = { nonce, action: null, expiresAtMs: 0, day: utcDayOf(now()), countedWei: 0n, versions: [version] }
  return { ...entry, countedWei: reserveOf(entry, settings.burnGas) }
}
