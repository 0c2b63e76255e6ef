import { blockCall, resultOf, parseBlock } from '../../chain/blocks.ts'
import { type RelayEntry, moveRelayEntry } from '../../store/relayStore.ts'
import type { Transaction } from '../../store/sql.ts'
import { recountGas } from './gasBudget.ts'
import type { FoundReceipts } from './lookAtNode.ts'
import type { MinedVersion } from './nodeAnswers.ts'
import type { RelayContext, RelayedHash } from './relayContext.ts'
import { newestOf } from './relayEntry.ts'
import { finalBlock, type RelayMemory } from './relayMemory.ts'

/** An entry with a version in a block. */
interface MinedEntry {
  readonly entry: RelayEntry
  readonly mined: MinedVersion
}

/**
 * Stores the findings of receipts: the actual cost of an entry, the hash it is known by and, once its block
 * is final, its end.
 */
export async function keepMined(
  context: RelayContext,
  memory: RelayMemory,
  found: readonly FoundReceipts[],
): Promise<void> {
  const nowMs = context.now()
  const seen: MinedEntry[] = []
  const fresh: MinedEntry[] = []
  for (const { nonce, receipts } of found) {
    const of = memory.state.tracked.get(nonce)
    if (of === undefined || receipts === 'unknown') continue
    if (receipts === 'none') {
      memory.missing(nonce, nowMs)
      continue
    }
    const one = { entry: of.entry, mined: receipts }
    seen.push(one)
    if (of.mined?.hash !== receipts.hash) fresh.push(one)
  }
  const counted = await keepFresh(context, fresh)
  for (const { entry, mined } of seen) memory.mined(counted.get(entry.nonce) ?? entry, mined)
  const final = finalBlock(context, memory.state)
  const deep = seen.filter(({ mined }) => mined.blockNumber <= final)
  await end(context, memory, await canonical(context, deep))
}

async function keepFresh(context: RelayContext, fresh: readonly MinedEntry[]): ReturnType<typeof keepCosts> {
  if (fresh.length === 0) return new Map()
  return context.store.transaction({ chain: context.sender.chain }, (sql) => keepCosts(sql, context, fresh))
}

/** Stores the actual costs, and the hashes that were mined. Returns the updated entries by their nonces. */
async function keepCosts(
  sql: Transaction,
  context: RelayContext,
  mined: readonly MinedEntry[],
): Promise<ReadonlyMap<number, RelayEntry>> {
  const counted = new Map<number, RelayEntry>()
  for (const { entry, mined: of } of mined) {
    counted.set(entry.nonce, await recountGas(sql, context.sender, entry, of.costWei))
  }
  const hashes = mined.flatMap(otherHash)
  if (hashes.length > 0) await context.onHashes(sql, hashes)
  return counted
}

/** Returns the mined hash of an action when that is not the one of its newest version. */
function otherHash({ entry, mined }: MinedEntry): RelayedHash[] {
  const isOther = mined.kind === 'action' && newestOf(entry).hash !== mined.hash
  return isOther && entry.action !== null ? [{ attemptId: entry.action.attemptId, hash: mined.hash }] : []
}

/**
 * Returns the entries whose block is on the canonical chain. Nodes keep receipts of blocks that were reorganised away.
 */
async function canonical({ client }: RelayContext, deep: readonly MinedEntry[]): Promise<readonly MinedEntry[]> {
  const numbers = [...new Set(deep.map(({ mined }) => mined.blockNumber))]
  const outcomes = await client.batch(numbers.map((number) => blockCall(number, false)))
  const hashes = new Set(outcomes.map((outcome) => parseBlock(resultOf(outcome))?.block.hash))
  return deep.filter(({ mined }) => hashes.has(mined.blockHash))
}

async function end(context: RelayContext, memory: RelayMemory, final: readonly MinedEntry[]): Promise<void> {
  if (final.length === 0) return
  const { store, sender, now } = context
  await store.transaction({ chain: sender.chain }, async (sql) => {
    await keepCosts(sql, context, final)
    for (const { entry } of final) {
      await moveRelayEntry(sql, sender, { nonce: entry.nonce, from: 'live', to: 'done', atMs: now() })
    }
  })
  for (const { entry, mined } of final) memory.ended(entry.nonce, mined.kind)
}
