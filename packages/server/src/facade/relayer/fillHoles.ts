import type { RelayEntry } from '../../store/relayRecord.ts'
import { NodeUnavailableError } from '../../ground/unavailable.ts'
import { insertRelayEntry, skipRelayNonces } from '../../store/relayStore.ts'
import { utcDayOf } from '../../trading/spend.ts'
import { firstFees } from './fees.ts'
import { MAX_NONCE_JUMP } from './loadEntries.ts'
import { reserveOf } from './relayEntry.ts'
import { track, type RelayContext, type RelayMemory } from './relayContext.ts'
import { recountGas } from './gasBudget.ts'
import { signVersion } from './signVersion.ts'

/** Looks that must agree, because one node behind an address may be on its own. */
const STRANGE_LOOKS = 2

/** Somebody else uses the key: nonces beyond those given out here are used. They are skipped, and it is told. */
export async function skipForeignNonces(context: RelayContext, memory: RelayMemory): Promise<void> {
  const { usedNonces = 0, nonces } = memory
  if (nonces === undefined || usedNonces <= nonces.next) {
    memory.strangeLooks = 0
    return
  }
  if (usedNonces - nonces.next > MAX_NONCE_JUMP) {
    throw new NodeUnavailableError('the node counts nonces that nobody can have used')
  }
  memory.strangeLooks += 1
  if (memory.strangeLooks < STRANGE_LOOKS) return
  const { sender, log, store } = context
  log.error(
    { ...sender, usedNonces, next: nonces.next },
    'the key of the relayer is used elsewhere: give it to one deployment only',
  )
  await store.transaction((sql) => skipRelayNonces(sql, sender, { first: nonces.first, next: usedNonces }))
}

/**
 * A nonce that was skipped because somebody else seemed to use it, and that stays open, would hold up all after it: it is burnt. Whether there
 * was one.
 */
export async function fillHoles(context: RelayContext, memory: RelayMemory): Promise<boolean> {
  const holes = holesIn(context, memory)
  if (holes.length === 0) return false
  const { store, sender, log } = context
  log.error({ ...sender, holes }, 'nonces of the relayer were left open by somebody else, and are burnt')
  const filled = await store.transaction(async (sql) => {
    const entries: RelayEntry[] = []
    for (const nonce of holes) {
      const entry = burnOf(context, memory, nonce)
      const { countedWei } = entry
      if (!(await insertRelayEntry(sql, sender, { ...entry, countedWei: 0n }))) continue
      entries.push(await recountGas(sql, sender, entry, countedWei))
    }
    return entries
  })
  for (const entry of filled) track(memory, entry)
  return filled.length > 0
}

/** Nonces from the next in line on that have no entry, once the line has stood still for long. */
function holesIn(
  { settings, now }: RelayContext,
  { nonces, usedNonces, tracked, lineSinceMs, market }: RelayMemory,
): number[] {
  if (nonces === undefined || usedNonces === undefined || market === undefined) return []
  const isFirst = usedNonces >= nonces.first && usedNonces < nonces.next && !tracked.has(usedNonces)
  if (!isFirst || now() - lineSinceMs < settings.stuckMs) return []
  const count = Math.min(nonces.next - usedNonces, MAX_NONCE_JUMP)
  return Array.from({ length: count }, (_, i) => usedNonces + i).filter((nonce) => !tracked.has(nonce))
}

function burnOf(context: RelayContext, { market }: RelayMemory, nonce: number): RelayEntry {
  const { settings, now } = context
  const fees = firstFees(market!, settings)
  const version = signVersion(context, { nonce, action: null }, { number: 0, kind: 'burn', fees })
  const entry = { nonce, action: null, expiresAtMs: 0, day: utcDayOf(now()), countedWei: 0n, versions: [version] }
  return { ...entry, countedWei: reserveOf(entry, settings.burnGas) }
}
