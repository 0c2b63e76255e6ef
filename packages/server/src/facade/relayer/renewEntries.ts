import type { Fees, VersionKind, RelayEntry } from '../../store/relayRecord.ts'
import { insertRelayVersion } from '../../store/relayStore.ts'
import type { Sql } from '../../store/sql.ts'
import { firstFees, raisedFees } from './fees.ts'
import { recountGas } from './gasBudget.ts'
import { isOver } from './lookAtNode.ts'
import { newestOf, reserveOf } from './relayEntry.ts'
import { unminedIn, type RelayContext, type RelayMemory, type TrackedEntry } from './relayContext.ts'
import { signVersion } from './signVersion.ts'

/** An entry and the offer that its next version makes. */
interface Renewal {
  readonly of: TrackedEntry
  readonly kind: VersionKind
  readonly fees: Fees
}

/** So often a node must say that it never takes an action, before its nonce is burnt ahead of its time: all others wait behind it. */
const HOPELESS_SENDS = 4

/** Renewed in one transaction; the rest follows in the next step. */
const MAX_RENEWALS = 32

/**
 * Gives new versions to entries that are stuck and burns those whose time is over. Stored first, sent in the next step. Whether there were any.
 */
export async function renewEntries(context: RelayContext, memory: RelayMemory): Promise<boolean> {
  const renewals = unminedIn(memory)
    .map((of) => renewalOf(context, memory, of))
    .filter((renewal) => renewal !== undefined)
    .slice(0, MAX_RENEWALS)
  if (renewals.length === 0) return false
  const renewed = await context.store.transaction(async (sql) => {
    const entries: RelayEntry[] = []
    for (const renewal of renewals) entries.push(await keepRenewal(sql, context, renewal))
    return entries
  })
  for (const [i, { of, kind }] of renewals.entries()) {
    const entry = renewed[i]!
    if (kind === newestOf(of.entry).kind) memory.counts.repriced += 1
    Object.assign(of, { entry, sendAtMs: 0, refusals: 0, hopeless: 0, isTaken: false, isUnderpriced: false })
    memory.nonceByHash.set(newestOf(entry).hash, entry.nonce)
  }
  return true
}

function renewalOf(context: RelayContext, memory: RelayMemory, of: TrackedEntry): Renewal | undefined {
  const { settings, now } = context
  const newest = newestOf(of.entry)
  const isExpired = isOver(of.entry.expiresAtMs, newest.kind, now()) || of.hopeless >= HOPELESS_SENDS
  if (!isExpired && !isStuck(context, memory, of)) return undefined
  const kind = isExpired ? 'burn' : newest.kind
  // Twice as much is more than an eighth more: what an action offered at most, a burn can always outbid.
  const maxFeeWei = kind === 'burn' ? 2n * settings.maxFeeWei : settings.maxFeeWei
  const market = memory.market === undefined ? undefined : firstFees(memory.market, { ...settings, maxFeeWei })
  const fees = raisedFees(newest.fees, market, maxFeeWei)
  return fees === undefined ? undefined : { of, kind, fees }
}

/** The node wants more for it, the base fee has gone beyond its offer, or it is the next in line and was not mined for long. */
function isStuck({ settings, now }: RelayContext, memory: RelayMemory, of: TrackedEntry): boolean {
  const { fees, createdAtMs } = newestOf(of.entry)
  const nowMs = now()
  if (nowMs - createdAtMs < settings.minRepriceMs) return false
  const isNext = of.entry.nonce === memory.usedNonces
  const isLate = isNext && of.isTaken && nowMs - Math.max(memory.lineSinceMs, createdAtMs) >= settings.stuckMs
  return isLate || of.isUnderpriced || fees.maxFeeWei < (memory.market?.baseFeeWei ?? 0n)
}

async function keepRenewal(sql: Sql, context: RelayContext, { of, kind, fees }: Renewal): Promise<RelayEntry> {
  const { entry } = of
  const version = signVersion(context, entry, { number: entry.versions.length, kind, fees })
  await insertRelayVersion(sql, context.sender, entry.nonce, version)
  if (kind === 'action' && entry.action !== null) {
    await context.onHash(sql, { attemptId: entry.action.attemptId, hash: version.hash })
  }
  const renewed = { ...entry, versions: [...entry.versions, version] }
  return recountGas(sql, context.sender, renewed, reserveOf(renewed, context.settings.burnGas))
}
