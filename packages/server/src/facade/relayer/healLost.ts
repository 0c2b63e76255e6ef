import type { RelayEntry } from '../../store/relayRecord.ts'
import { NodeUnavailableError } from '../../ground/unavailable.ts'
import type { Hex } from '@bezel/protocol'
import { endRelayEntry, isRelayedHash } from '../../store/relayStore.ts'
import type { Sql } from '../../store/sql.ts'
import { receiptCall } from '../../chain/chainCalls.ts'
import { quantity } from '../../chain/chainJson.ts'
import { numberToHex } from 'viem'
import { insertAction } from './enqueueAction.ts'
import { firstFees } from './fees.ts'
import { finalBlock } from './finality.ts'
import { findNonceUser } from './findNonceUser.ts'
import { recountGas } from './gasBudget.ts'
import { usedNoncesCall } from './loadEntries.ts'
import { parseMined } from './parseMined.ts'
import { newestOf } from './relayEntry.ts'
import { untrack, type RelayContext, type RelayMemory, type TrackedEntry } from './relayContext.ts'

/** Between two searches for one entry; each takes some twenty round trips. */
const SEARCH_MS = 5_000
/** Longer than any chain takes to be final. */
const GIVE_UP_MS = 3_600_000

/**
 * Entries whose nonce is used while none of their versions is mined: somebody else used it. An action gets a new nonce only when the
 * transaction that used the old one is found in a final block, because only then none of its versions can be mined any more. Without
 * that proof it is given up when its time is over. Whether anything changed.
 */
export async function healLost(context: RelayContext, memory: RelayMemory): Promise<boolean> {
  const nowMs = context.now()
  const missing = [...memory.tracked.values()].find(
    ({ missingSinceMs = nowMs, searchedAtMs }) =>
      nowMs - missingSinceMs > context.settings.pollMs && nowMs - searchedAtMs >= SEARCH_MS,
  )
  if (missing === undefined) return false
  if (missing.searchedAtMs < 0) {
    const { nonce } = missing.entry
    context.log.error(
      { ...context.sender, nonce },
      "a nonce of the relayer is used, and not by the relayer's own transaction",
    )
  }
  missing.searchedAtMs = nowMs
  if (!(await isUsedForGood(context, memory, missing))) return false
  const user = await findUser(context, memory, missing.entry)
  const isProven = user !== undefined && missing.entry.versions.every(({ hash }) => hash !== user)
  // Found as our own: the node is late with the receipt.
  if (user !== undefined && !isProven) return false
  if (!isProven && missing.entry.expiresAtMs > context.now()) return false
  await giveUp(context, memory, missing, user)
  return true
}

/**
 * At finality depth the nonce is used, and the node knows none of the entry's versions. A node that keeps no state of that depth is believed
 * long after the time of the action is over, when it could not be relayed again anyway.
 */
async function isUsedForGood(context: RelayContext, memory: RelayMemory, of: TrackedEntry): Promise<boolean> {
  const { nonce, versions, expiresAtMs } = of.entry
  const final = finalBlock(context, memory)
  if (final < 0) return false
  const [used, ...receipts] = await context.client.batch([
    usedNoncesCall(context, numberToHex(final)),
    ...versions.map(({ hash }) => receiptCall(hash)),
  ])
  if (parseMined(versions, receipts) !== 'none') return false
  if (used?.ok === true) return quantity(used.result) > nonce
  return context.now() - Math.max(expiresAtMs, of.missingSinceMs ?? Infinity) > GIVE_UP_MS
}

/** A node that has forgotten the state of those blocks proves nothing. */
async function findUser(context: RelayContext, memory: RelayMemory, { nonce }: RelayEntry): Promise<Hex | undefined> {
  try {
    return await findNonceUser(context, nonce, finalBlock(context, memory))
  } catch (error) {
    if (error instanceof NodeUnavailableError) return undefined
    throw error
  }
}

async function giveUp(
  context: RelayContext,
  memory: RelayMemory,
  of: TrackedEntry,
  user: Hex | undefined,
): Promise<void> {
  const { store, sender, log } = context
  const { entry } = of
  const hash = await store.transaction(async (sql) => {
    const isLive = await endRelayEntry(sql, sender, { nonce: entry.nonce, end: 'lost', atMs: context.now() })
    if (!isLive) throw new Error(`nonce ${entry.nonce} was settled elsewhere`)
    // Asked of the store, because everything hangs on it.
    if (user !== undefined && (await isRelayedHash(sql, sender.chain, user))) throw new Error(`${user} is our own`)
    await recountGas(sql, sender, entry, 0n)
    return user === undefined ? undefined : relayAgain(sql, context, memory, entry)
  })
  untrack(memory, entry)
  memory.counts.lost += 1
  log.error(
    { ...sender, nonce: entry.nonce, user, hash },
    'a nonce of the relayer was used elsewhere: give its key to one deployment only',
  )
}

/** Under a new nonce, when there is still time for it. */
async function relayAgain(
  sql: Sql,
  context: RelayContext,
  { market }: RelayMemory,
  entry: RelayEntry,
): Promise<Hex | undefined> {
  const { action, expiresAtMs, day } = entry
  if (action === null || market === undefined || expiresAtMs <= context.now()) return undefined
  const fees = firstFees(market, context.settings)
  const again = await insertAction(sql, context, { action, fees, expiresAtMs, day, countedWei: 0n })
  await recountGas(sql, context.sender, again, action.gas * fees.maxFeeWei)
  const { hash } = newestOf(again)
  await context.onHash(sql, { attemptId: action.attemptId, hash })
  return hash
}
