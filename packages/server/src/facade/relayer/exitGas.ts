import type { Address, ChainSlug, OrderId } from '@bezel/protocol'
import type { Changes } from '../../journal/accountLog.ts'
import type { RelayPurpose } from '../../orders/signedWrite.ts'
import { findOrder } from '../../store/orderStore.ts'
import { findPosition } from '../../store/positionStore.ts'
import {
  addAside,
  addRelayedGas,
  EXIT_PARTS,
  findExit,
  holdRelayQueue,
  isPartInUse,
  listExitUses,
  listWithoutExit,
  readExitNeed,
  readExitUsedWei,
  readOpeningWei,
  saveExit,
  saveExitUse,
  type ExitUse,
  type RelayExit,
  type RelaySender,
} from '../../store/relayGasStore.ts'
import type { Sql } from '../../store/sql.ts'
import { utcDayOf } from '../../trading/scope.ts'
import type { RelayContext } from './relayContext.ts'
import type { RelayerSettings } from './relayerSettings.ts'

// The gas of the ways out. The sum of a day's budget in the store is what ordinary entries count, what is held for ways
// out, and what was paid with it; so what is held never serves anything else, and an exit changes no sum.

/** The settings by which the gas of a way out is reckoned. */
type ExitTerms = Pick<RelayerSettings, 'exitGas' | 'maxFeeWei'>

/**
 * Returns the gas cost to set aside for each part of the way out of an order, in wei. No part takes more gas than a
 * market order that opens; a resting one takes less than a close.
 */
function exitPartWei(openGas: bigint, { exitGas, maxFeeWei }: ExitTerms): bigint {
  return (openGas > exitGas ? openGas : exitGas) * maxFeeWei
}

/** Returns the gas cost to set aside for the whole way out of an order, in wei. */
export function exitWei(openGas: bigint, terms: ExitTerms): bigint {
  return BigInt(EXIT_PARTS.length) * exitPartWei(openGas, terms)
}

/** An order for whose way out gas is set aside. */
interface OrderToLeave {
  readonly chain: ChainSlug
  readonly orderId: OrderId
  readonly trader: Address
  readonly nowMs: number
  /** Gas limit of the transaction that opens, in units of gas. */
  readonly openGas: bigint
}

/** Sets gas aside, from the budget of today. Whoever calls it has checked that the budget has it. */
export async function holdExit(sql: Sql, of: OrderToLeave, terms: ExitTerms): Promise<void> {
  const { chain, orderId, trader, nowMs } = of
  const before = await findExit(sql, chain, orderId)
  // An order that lapsed and is prepared again.
  if (before?.overAtMs === null) await release(sql, before, { nowMs, isCanceled: false })
  const wei = exitPartWei(of.openGas, terms)
  const left = { close: wei, stops: wei, cancel: wei }
  const exit = { chain, orderId, trader, day: utcDayOf(nowMs), left, surchargeWei: 0n, overAtMs: null }
  await saveExit(sql, exit)
  await count(sql, exit, leftOf(exit))
}

/** Counts an amount as set aside, in the sums of the chain, the day and its trader. */
async function count(sql: Sql, exit: RelayExit, wei: bigint): Promise<void> {
  await addAside(sql, exit.chain, wei)
  await addToDay(sql, exit, wei)
}

/** Adds to the gas cost of a day, of the deployment and of a trader. */
export async function addToDay(
  sql: Sql,
  { chain, day, trader }: { readonly chain: ChainSlug; readonly day: number; readonly trader: Address | null },
  wei: bigint,
): Promise<void> {
  if (wei === 0n) return
  await addRelayedGas(sql, { chain, day, trader: null, wei })
  if (trader !== null) await addRelayedGas(sql, { chain, day, trader, wei })
}

function leftOf({ left }: RelayExit): bigint {
  return EXIT_PARTS.reduce((sum, part) => sum + left[part], 0n)
}

/** Returns what is left when order and position have ended. A trader counts a place and cancel without a fill twice. */
async function release(
  sql: Sql,
  exit: RelayExit,
  { nowMs, isCanceled }: { readonly nowMs: number; readonly isCanceled: boolean },
): Promise<void> {
  await count(sql, exit, -leftOf(exit))
  await setSurcharge(sql, { ...exit, overAtMs: nowMs }, isCanceled)
}

async function setSurcharge(sql: Sql, exit: RelayExit, isDue: boolean): Promise<void> {
  const { chain, orderId, trader, day } = exit
  const surchargeWei = isDue
    ? (await readOpeningWei(sql, chain, orderId)) + (await readExitUsedWei(sql, chain, orderId))
    : 0n
  await saveExit(sql, { ...exit, surchargeWei })
  if (surchargeWei !== exit.surchargeWei) {
    await addRelayedGas(sql, { chain, day, trader, wei: surchargeWei - exit.surchargeWei })
  }
}

/**
 * Returns what is set aside for orders and positions that have ended, and sets it aside again for those that a
 * reorganisation brought back. Runs in the transaction of the change.
 */
export async function settleExits(sql: Sql, { chain, cause, orders, positions }: Changes): Promise<void> {
  const opened = orders.filter(({ record }) => record.request.kind === 'open').map(({ record }) => record.id)
  for (const orderId of new Set([...opened, ...positions.map(({ record }) => record.originOrderId)])) {
    const exit = await findExit(sql, chain, orderId)
    if (exit === undefined) continue
    const { isNeeded, isCanceled } = await readExitNeed(sql, orderId)
    if (isNeeded === (exit.overAtMs === null)) continue
    await holdRelayQueue(sql, chain)
    if (!isNeeded) await release(sql, exit, { nowMs: cause.nowMs, isCanceled })
    else {
      await count(sql, exit, leftOf(exit))
      await setSurcharge(sql, { ...exit, overAtMs: null }, false)
    }
  }
}

/** An exit whose part may pay for an entry. */
export type PayingExit = Pick<ExitUse, 'orderId' | 'part' | 'day'> & { readonly wei: bigint }

/** Lists what is set aside for a transaction of this purpose and not used by another one that is not mined. */
export async function listPayingExits(
  sql: Sql,
  sender: RelaySender,
  of: { readonly purpose: RelayPurpose; readonly trader: Address; readonly usedNonces: number },
): Promise<PayingExit[]> {
  const { purpose, trader, usedNonces } = of
  if (purpose.kind === 'open' || purpose.kind === 'other') return []
  const { kind: part } = purpose
  const paying: PayingExit[] = []
  for (const orderId of await openingOrders(sql, purpose)) {
    const exit = await findExit(sql, sender.chain, orderId)
    if (exit === undefined || exit.overAtMs !== null || exit.trader !== trader) continue
    if (await isPartInUse(sql, sender, { orderId, part, usedNonces })) continue
    paying.push({ orderId, part, day: exit.day, wei: exit.left[part] })
  }
  return paying
}

async function openingOrders(
  sql: Sql,
  purpose: { readonly orderId: OrderId } | { readonly positionIds: readonly OrderId[] },
): Promise<OrderId[]> {
  if ('orderId' in purpose) return [purpose.orderId]
  const orders: OrderId[] = []
  for (const id of purpose.positionIds) {
    const position = await findPosition(sql, id)
    if (position !== undefined) orders.push(position.record.originOrderId)
  }
  return orders
}

/**
 * Returns the highest fee to offer for an action of this gas limit for which `wei` is set aside: the fee cap, and more
 * as far as that goes.
 */
export function feeCapOf(
  { maxFeeWei }: Pick<RelayerSettings, 'maxFeeWei'>,
  of: { readonly wei: bigint; readonly gas: bigint },
): bigint {
  const ownWei = of.wei / of.gas
  return ownWei > maxFeeWei ? ownWei : maxFeeWei
}

/** Reads what an entry counts and may still count of what is set aside for it, in wei. */
export async function readPaidByExits(sql: Sql, sender: RelaySender, nonce: number): Promise<bigint> {
  let wei = 0n
  for (const use of await listExitUses(sql, sender, nonce)) {
    const exit = await findExit(sql, sender.chain, use.orderId)
    wei += use.wei + (exit?.day === use.day && exit.overAtMs === null ? exit.left[use.part] : 0n)
  }
  return wei
}

/** Lets exits pay for an entry, nothing as yet: `bearByExits` moves the amounts. */
export async function useExits(
  sql: Sql,
  sender: RelaySender,
  nonce: number,
  exits: readonly PayingExit[],
): Promise<void> {
  for (const exit of exits) await saveExitUse(sql, sender, nonce, { ...exit, wei: 0n })
}

/**
 * Moves a change of what an entry counts to what is set aside for it, as far as that goes: more is taken from there
 * first, and less is given back there last. Returns the part of the change that is borne there.
 */
export async function bearByExits(
  sql: Sql,
  sender: RelaySender,
  of: { readonly nonce: number; readonly trader: Address; readonly beforeWei: bigint; readonly moreWei: bigint },
): Promise<bigint> {
  const uses = await listExitUses(sql, sender, of.nonce)
  const borneBefore = uses.reduce((sum, { wei }) => sum + wei, 0n)
  const ordinary = of.beforeWei - borneBefore
  let left = of.moreWei > 0n ? of.moreWei : smaller(0n, of.moreWei + ordinary)
  const borne = left
  for (const use of uses) left -= await moveUse(sql, sender, of, use, left)
  return borne - left
}

/** Moves up to `wei` between what is set aside and an entry, and back when it is negative. Returns what was moved. */
async function moveUse(
  sql: Sql,
  sender: RelaySender,
  { nonce, trader }: { readonly nonce: number; readonly trader: Address },
  use: ExitUse,
  wei: bigint,
): Promise<bigint> {
  const found = await findExit(sql, sender.chain, use.orderId)
  // One of another day was set aside anew for the same order, and has nothing to do with this entry.
  const exit = found?.day === use.day ? found : undefined
  const isHeld = exit?.overAtMs === null
  const available = isHeld ? exit!.left[use.part] : 0n
  const moved = wei > 0n ? smaller(wei, available) : -smaller(-wei, use.wei)
  if (moved === 0n) return 0n
  await saveExitUse(sql, sender, nonce, { ...use, wei: use.wei + moved })
  if (isHeld) await addAside(sql, sender.chain, -moved)
  else await addToDay(sql, { chain: sender.chain, day: use.day, trader }, moved)
  if (exit !== undefined) {
    const left = { ...exit.left, [use.part]: exit.left[use.part] - moved }
    await setSurcharge(sql, { ...exit, left }, exit.surchargeWei !== 0n)
  }
  return moved
}

function smaller(a: bigint, b: bigint): bigint {
  return a < b ? a : b
}

/**
 * Sets gas aside for what this relayer opened before gas was set aside. It counts today, even beyond the budget: nobody
 * is asked whether to open.
 */
export async function adoptOpen({ store, sender, settings, now }: RelayContext): Promise<void> {
  const open = await listWithoutExit(store.read, sender)
  if (open.length === 0) return
  await store.transaction({ chain: sender.chain }, async (sql) => {
    const { chain } = sender
    for (const { orderId, gas } of open) {
      const record = (await findOrder(sql, orderId))?.record
      if (record?.request.kind !== 'open') continue
      const openGas = gas ?? settings.fallbackGas
      await holdExit(sql, { chain, orderId, trader: record.trader, nowMs: now(), openGas }, settings)
    }
  })
}
