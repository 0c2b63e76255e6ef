import { type Address, type ChainSlug, diamondAbi, type Hex } from '@bezel/protocol'
import { decodeFunctionData, getAbiItem, toFunctionSelector } from 'viem'
import { blockCall, parseBlock, resultOf } from '../../chain/blocks.ts'
import { findOrderIdByHandle, type HeldHandle, type OrderHandle } from '../../store/orderEventStore.ts'
import { findPositionByTrade, findPositionIdByHandle } from '../../store/positionStore.ts'
import type { RelayAction } from '../../store/relayStore.ts'
import type { Sql } from '../../store/sql.ts'
import { ENCODED_CALLS } from '../../trading/plan/encodeCall.ts'
import type { RelayContext } from './relayContext.ts'
import { newestOf } from './relayEntry.ts'
import { unminedIn, type RelayMemory, type TrackedEntry } from './relayMemory.ts'

// The chain numbers a trader's trades and requests, and actions name them by these numbers. A reorganisation can number
// them anew: a cancel that is sent again as it was would then end another order. So what a reorganisation dropped is
// only sent again once the store shows that the number still belongs to what it was made for.

/**
 * Time for which an action waits for its target to be on the chain again, before its nonce is burnt. All later actions
 * wait with it.
 */
const TARGET_WAIT_MS = 15_000

/** The number of blocks by which the follower may be behind the node for its knowledge to count. */
const MAX_BLOCKS_BEHIND = 4

/** Reads what an action names on the chain, and to which order or position each of it belongs now. */
export async function readAims(
  sql: Sql,
  chain: ChainSlug,
  { trader, calldata }: Pick<RelayAction, 'trader' | 'calldata'>,
): Promise<HeldHandle[]> {
  const aims: HeldHandle[] = []
  for (const handle of handlesIn(calldata)) {
    const holder = await findHolder(sql, chain, trader, handle)
    if (holder !== undefined) aims.push({ handle, holder })
  }
  return aims
}

const selectorOf = (name: (typeof ENCODED_CALLS)[number]): Hex =>
  toFunctionSelector(getAbiItem({ abi: diamondAbi, name })) as Hex

const WRAPPERS: ReadonlySet<Hex> = new Set([selectorOf('delegatedTradingAction'), selectorOf('multicall')])
const RECLAIM = selectorOf('cancelOrderAfterTimeout')
/** Calls whose first argument is the index of a trade or, for a reclaim, of a request. */
const NAMING: ReadonlySet<Hex> = new Set(
  ENCODED_CALLS.map(selectorOf).filter((selector) => selector !== selectorOf('openTrade') && !WRAPPERS.has(selector)),
)

const SELECTOR_DIGITS = 10
const WORD_DIGITS = 64

function handlesIn(data: Hex): OrderHandle[] {
  const selector = data.slice(0, SELECTOR_DIGITS) as Hex
  if (WRAPPERS.has(selector)) {
    const { functionName, args } = decodeFunctionData({ abi: diamondAbi, data })
    if (functionName === 'delegatedTradingAction') return handlesIn(args[1] as Hex)
    return functionName === 'multicall' ? (args[0] as readonly Hex[]).flatMap(handlesIn) : []
  }
  if (!NAMING.has(selector)) return []
  const index = Number(`0x${data.slice(SELECTOR_DIGITS, SELECTOR_DIGITS + WORD_DIGITS)}`)
  return [selector === RECLAIM ? `pending:${index}` : `trade:${index}`]
}

async function findHolder(
  sql: Sql,
  chain: ChainSlug,
  trader: Address,
  handle: OrderHandle,
): Promise<HeldHandle['holder'] | undefined> {
  const orderId = await findOrderIdByHandle(sql, chain, trader, handle)
  if (orderId !== undefined) return `order:${orderId}`
  const index = Number(handle.slice(handle.indexOf(':') + 1))
  const positionId = handle.startsWith('trade:')
    ? (await findPositionByTrade(sql, chain, trader, index))?.record.id
    : await findPositionIdByHandle(sql, chain, `pending:${trader}:${index}`)
  return positionId === undefined ? undefined : `position:${positionId}`
}

/**
 * Judges what a reorganisation dropped, and what a process found when it started: an action is sent again when its
 * targets are where they were, waits for a target that is not on the chain again, and is astray when another one is
 * there.
 */
export async function takeAim(context: RelayContext, memory: RelayMemory): Promise<void> {
  const { state } = memory
  const doubtful = unminedIn(state).filter(isDoubtful)
  if (doubtful.length === 0) return
  const isFollowed = await isNodeFollowed(context, state.nodeHead)
  const nowMs = context.now()
  for (const { entry, heldSinceMs = nowMs } of doubtful) {
    const { nonce } = entry
    const found = isFollowed ? await compare(context, entry.action!) : 'unfollowed'
    const isAstray = found === 'other' || (found === 'away' && nowMs - heldSinceMs > TARGET_WAIT_MS)
    if (found === 'there' || isAstray) memory.aimed(nonce, isAstray ? 'astray' : 'there')
    else memory.aimed(nonce, 'unknown', found === 'away' ? heldSinceMs : nowMs)
  }
}

function isDoubtful({ isDropped, aim, entry }: TrackedEntry): boolean {
  return isDropped && aim === 'unknown' && newestOf(entry).kind === 'action' && (entry.action?.aims.length ?? 0) > 0
}

/**
 * True when the followed head is one of the last blocks of the node's chain: the follower has seen the reorganisation,
 * and nearly all that came after it.
 */
async function isNodeFollowed({ client, head }: RelayContext, nodeHead: number): Promise<boolean> {
  const followed = head()
  if (followed === undefined || followed.number < nodeHead - MAX_BLOCKS_BEHIND) return false
  const [outcome] = await client.batch([blockCall(followed.number, false)])
  return parseBlock(resultOf(outcome))?.block.hash === followed.hash
}

/** Compares the targets of an action with the chain as it was followed. */
async function compare(
  { store, sender }: RelayContext,
  { trader, aims }: RelayAction,
): Promise<'there' | 'away' | 'other'> {
  const now = await Promise.all(aims.map((aim) => findHolder(store.read, sender.chain, trader, aim.handle)))
  if (now.some((holder, i) => holder !== undefined && holder !== aims[i]!.holder)) return 'other'
  return now.includes(undefined) ? 'away' : 'there'
}
