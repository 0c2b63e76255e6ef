import type { RelayEntry } from '../../store/relayRecord.ts'
import { endRelayEntry } from '../../store/relayStore.ts'
import type { Sql } from '../../store/sql.ts'
import { blockCall, resultOf } from '../../chain/chainCalls.ts'
import { parseBlock } from '../../chain/chainJson.ts'
import { finalBlock } from './finality.ts'
import { recountGas } from './gasBudget.ts'
import type { FoundReceipts } from './lookAtNode.ts'
import { newestOf } from './relayEntry.ts'
import { untrack, type MinedVersion, type RelayContext, type RelayMemory, type TrackedEntry } from './relayContext.ts'

/** An entry with a version in a block. */
interface MinedEntry {
  readonly of: TrackedEntry
  readonly mined: MinedVersion
}

/** Takes up what the receipts say: what an entry really costs, which hash it is known by, and at finality depth its end. */
export async function keepMined(
  context: RelayContext,
  memory: RelayMemory,
  found: readonly FoundReceipts[],
): Promise<void> {
  const now = context.now()
  const seen: MinedEntry[] = []
  const fresh: MinedEntry[] = []
  for (const { of, receipts } of found) {
    if (receipts === 'unknown') continue
    if (receipts === 'none') {
      of.mined = undefined
      of.missingSinceMs ??= now
      continue
    }
    of.missingSinceMs = undefined
    seen.push({ of, mined: receipts })
    if (of.mined?.hash !== receipts.hash) fresh.push({ of, mined: receipts })
  }
  await keepCosts(context, fresh)
  for (const { of, mined } of seen) of.mined = mined
  const final = finalBlock(context, memory)
  await end(
    context,
    memory,
    await canonical(
      context,
      seen.filter(({ mined }) => mined.blockNumber <= final),
    ),
  )
}

async function keepCosts(context: RelayContext, fresh: readonly MinedEntry[]): Promise<void> {
  if (fresh.length === 0) return
  const counted = await context.store.transaction(async (sql) => {
    const entries: RelayEntry[] = []
    for (const { of, mined } of fresh) entries.push(await keepCost(sql, context, of.entry, mined))
    return entries
  })
  for (const [i, { of }] of fresh.entries()) of.entry = counted[i]!
}

async function keepCost(
  sql: Sql,
  { sender, onHash }: RelayContext,
  entry: RelayEntry,
  { hash, kind, costWei }: MinedVersion,
): Promise<RelayEntry> {
  const isOther = kind === 'action' && newestOf(entry).hash !== hash
  if (isOther && entry.action !== null) await onHash(sql, { attemptId: entry.action.attemptId, hash })
  return recountGas(sql, sender, entry, costWei)
}

/** Those whose block is the chain's own at its number: nodes keep receipts of blocks that were left. */
async function canonical({ client }: RelayContext, deep: readonly MinedEntry[]): Promise<readonly MinedEntry[]> {
  const numbers = [...new Set(deep.map(({ mined }) => mined.blockNumber))]
  const outcomes = await client.batch(numbers.map((number) => blockCall(number, false)))
  const hashes = new Set(outcomes.map((outcome) => parseBlock(resultOf(outcome))?.block.hash))
  return deep.filter(({ mined }) => hashes.has(mined.blockHash))
}

async function end(context: RelayContext, memory: RelayMemory, final: readonly MinedEntry[]): Promise<void> {
  if (final.length === 0) return
  const { store, sender, now } = context
  await store.transaction(async (sql) => {
    for (const { of, mined } of final) {
      await keepCost(sql, context, of.entry, mined)
      await endRelayEntry(sql, sender, { nonce: of.entry.nonce, end: 'done', atMs: now() })
    }
  })
  for (const { of, mined } of final) {
    untrack(memory, of.entry)
    memory.counts[mined.kind === 'burn' ? 'burnt' : 'mined'] += 1
  }
}
