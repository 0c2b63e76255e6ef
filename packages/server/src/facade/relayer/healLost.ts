import { type Hex, parseAddress, parseHex } from '@bezel/protocol'
import { numberToHex } from 'viem'
import { receiptCall, quantity, blockCall, resultOf } from '../../chain/blocks.ts'
import { NodeUnavailableError } from '../../ground/unavailable.ts'
import { moveExitUses } from '../../store/relayGasStore.ts'
import { type RelayEntry, isRelayedHash, moveRelayEntry } from '../../store/relayStore.ts'
import type { Transaction } from '../../store/sql.ts'
import { insertAction, takeNonce } from './enqueueAction.ts'
import { firstFees } from './fees.ts'
import { recountGas } from './gasBudget.ts'
import { parseMined } from './nodeAnswers.ts'
import { usedNoncesCall } from './nonceSequence.ts'
import type { RelayContext } from './relayContext.ts'
import { newestOf } from './relayEntry.ts'
import { finalBlock, type RelayMemory, type RelayState, type TrackedEntry } from './relayMemory.ts'
import { mayStillAct } from './renewEntries.ts'

/** Time between two searches for one entry. A search takes about twenty round trips. */
const SEARCH_MS = 5_000

/**
 * Time after an action's expiry at which even a node without the state of old blocks is believed. Longer than any chain
 * takes to be final.
 */
const GIVE_UP_MS = 3_600_000

/**
 * Handles entries whose nonce is used while none of their versions is mined: somebody else used the nonce. An action
 * gets a new nonce only when the transaction that used the old one is found in a final block, because only then can
 * none of its versions be mined any more. Without that proof the action is given up when it expires. Returns true when
 * something changed.
 */
export async function healLost(context: RelayContext, memory: RelayMemory): Promise<boolean> {
  const nowMs = context.now()
  const missing = [...memory.state.tracked.values()].find(
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
  memory.searched(missing.entry.nonce, nowMs)
  if (!(await isUsedForGood(context, memory.state, missing))) return false
  const user = await findUser(context, memory.state, missing.entry)
  const isProven = user !== undefined && missing.entry.versions.every(({ hash }) => hash !== user)
  // The user is one of the entry's own versions: the node is late with its receipt.
  if (user !== undefined && !isProven) return false
  if (!isProven && missing.entry.expiresAtMs > context.now()) return false
  await giveUp(context, memory, missing.entry, user)
  return true
}

/**
 * True when the nonce is used in the last final block and the node knows none of the entry's versions. A node without
 * the state of that block is believed only long after the action expired, when it could not be relayed again anyway.
 */
async function isUsedForGood(context: RelayContext, state: RelayState, of: TrackedEntry): Promise<boolean> {
  const { nonce, versions, expiresAtMs } = of.entry
  const final = finalBlock(context, state)
  if (final < 0) return false
  const [used, ...receipts] = await context.client.batch([
    usedNoncesCall(context, numberToHex(final)),
    ...versions.map(({ hash }) => receiptCall(hash)),
  ])
  if (parseMined(versions, receipts) !== 'none') return false
  if (used?.ok === true) return quantity(used.result) > nonce
  return context.now() - Math.max(expiresAtMs, of.missingSinceMs ?? Infinity) > GIVE_UP_MS
}

/** Finds the transaction that used the nonce. A node without the state of old blocks proves nothing, so `undefined`. */
async function findUser(context: RelayContext, state: RelayState, { nonce }: RelayEntry): Promise<Hex | undefined> {
  try {
    return await findNonceUser(context, nonce, finalBlock(context, state))
  } catch (error) {
    if (error instanceof NodeUnavailableError) return undefined
    throw error
  }
}

async function giveUp(
  context: RelayContext,
  memory: RelayMemory,
  entry: RelayEntry,
  user: Hex | undefined,
): Promise<void> {
  const { store, sender, log } = context
  const hash = await store.transaction({ chain: sender.chain }, async (sql) => {
    const lost = { nonce: entry.nonce, from: 'live', to: 'lost', atMs: context.now() } as const
    const isLive = await moveRelayEntry(sql, sender, lost)
    if (!isLive) throw new Error(`nonce ${entry.nonce} was settled elsewhere`)
    // Checked against the store again, because relaying twice would execute the action twice.
    if (user !== undefined && (await isRelayedHash(sql, sender.chain, user))) throw new Error(`${user} is our own`)
    await recountGas(sql, sender, entry, 0n)
    return user === undefined ? undefined : relayAgain(sql, context, memory.state, entry)
  })
  memory.lost(entry.nonce)
  log.error(
    { ...sender, nonce: entry.nonce, user, hash },
    'a nonce of the relayer was used elsewhere: give its key to one deployment only',
  )
}

/** Relays an action again under a new nonce, unless it has expired, was burnt, or its agent may not act any more. */
async function relayAgain(
  sql: Transaction,
  context: RelayContext,
  { market }: RelayState,
  entry: RelayEntry,
): Promise<Hex | undefined> {
  const { action, expiresAtMs, day } = entry
  if (action === null || market === undefined || expiresAtMs <= context.now()) return undefined
  if (newestOf(entry).kind === 'burn' || !(await mayStillAct(sql, context, entry))) return undefined
  const fees = firstFees(market, context.settings)
  const nonce = await takeNonce(sql, context)
  const again = await insertAction(sql, context, { nonce, action, fees, expiresAtMs, day, countedWei: 0n })
  await moveExitUses(sql, context.sender, { from: entry.nonce, to: again.nonce })
  await recountGas(sql, context.sender, again, action.gas * fees.maxFeeWei)
  const { hash } = newestOf(again)
  await context.onHashes(sql, [{ attemptId: action.attemptId, hash }])
  return hash
}

/** The largest number of blocks searched. The nonce was unused when its entry was made, which is minutes ago. */
const MAX_BLOCKS_BACK = 16_384

/**
 * Finds the transaction that used a nonce in a block up to `final`, which proves that no other transaction of that
 * nonce is ever mined. `undefined` when it can't be found. Throws `NodeUnavailableError`, also when the node has no
 * state of old blocks.
 */
async function findNonceUser(context: RelayContext, nonce: number, final: number): Promise<Hex | undefined> {
  let used = final
  let open = Infinity
  if ((await usedAt(context, used)) <= nonce) return undefined
  // Steps double, because most nodes keep the state of only the last 128 blocks and the nonce was mostly used recently.
  for (let step = 1; open > used; step *= 2) {
    const before = Math.max(0, final - step)
    if (used === 0 || step > MAX_BLOCKS_BACK) return undefined
    if ((await usedAt(context, before)) > nonce) used = before
    else open = before
  }
  while (used - open > 1) {
    const middle = (open + used) >> 1
    if ((await usedAt(context, middle)) > nonce) used = middle
    else open = middle
  }
  return hashIn(context, nonce, used)
}

async function usedAt(context: RelayContext, block: number): Promise<number> {
  const [outcome] = await context.client.batch([usedNoncesCall(context, numberToHex(block))])
  return quantity(resultOf(outcome))
}

async function hashIn({ client, sender }: RelayContext, nonce: number, block: number): Promise<Hex | undefined> {
  const [outcome] = await client.batch([blockCall(block, true)])
  const { transactions } = (resultOf(outcome) ?? {}) as { transactions?: unknown }
  for (const transaction of Array.isArray(transactions) ? transactions : []) {
    const { from, nonce: used, hash } = transaction as Readonly<Record<string, unknown>>
    if (typeof from !== 'string' || parseAddress(from) !== sender.sender || quantity(used) !== nonce) continue
    return typeof hash === 'string' ? parseHex(hash) : undefined
  }
  return undefined
}
