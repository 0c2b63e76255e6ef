import type { Address, Hex } from '@bezel/protocol'
import {
  type Fees,
  type RelayAction,
  type RelayEntry,
  countRelayEntries,
  insertRelayEntry,
  readRelayedHash,
  takeRelayNonce,
} from '../../store/relayStore.ts'
import type { Sql } from '../../store/sql.ts'
import type { Attempt } from '../../trading/orders/orderModel.ts'
import { utcDayOf } from '../../trading/scope.ts'
import { firstFees } from './fees.ts'
import { reserveGas, RelayRefusedError } from './gasBudget.ts'
import type { RelayContext } from './relayContext.ts'
import { newestOf, signVersion } from './relayEntry.ts'
import { ACTION_SELECTOR } from './relayerKey.ts'
import type { RelayMemory, RelayState } from './relayMemory.ts'

export interface ActionToRelay {
  readonly attempt: Attempt
  readonly trader: Address
}

/**
 * Gives an action its nonce and signs it, in the transaction that makes its order, so that all of it is stored or
 * nothing. Asks no node. For an attempt that was enqueued before it returns the same hash. Throws a
 * `RelayRefusedError`.
 */
export async function enqueueAction(
  sql: Sql,
  context: RelayContext,
  memory: RelayMemory,
  { attempt, trader }: ActionToRelay,
): Promise<Hex> {
  const { sender, settings, now } = context
  const known = await readRelayedHash(sql, sender.chain, attempt.id)
  if (known !== undefined) return known
  requireOwn(context, attempt, trader)
  if (attempt.expiresAtMs <= now()) throw new RelayRefusedError('expired', 'The time for this action is over.')
  const action = actionOf(context, attempt, trader)
  const fees = offeredFees(context, memory.state)
  const wei = action.gas * fees.maxFeeWei
  requireFunds(memory.state, wei)
  await requireRoom(sql, context)
  const day = utcDayOf(now())
  await reserveGas(sql, sender, { trader, day, wei }, settings)
  const entry = await insertAction(sql, context, {
    action,
    fees,
    expiresAtMs: attempt.expiresAtMs,
    day,
    countedWei: wei,
  })
  // If the transaction is rolled back, this counts too much until the next step recounts.
  memory.reserved(wei)
  return newestOf(entry).hash
}

/** Stores an action as an entry with the next nonce. */
export async function insertAction(
  sql: Sql,
  context: RelayContext,
  of: Pick<RelayEntry, 'expiresAtMs' | 'day' | 'countedWei'> & { readonly action: RelayAction; readonly fees: Fees },
): Promise<RelayEntry> {
  const { fees, ...terms } = of
  const nonce = await takeRelayNonce(sql, context.sender)
  if (nonce === undefined) throw notReady()
  const version = signVersion(context, { nonce, action: terms.action }, { number: 0, kind: 'action', fees })
  const entry = { nonce, ...terms, versions: [version] }
  if (!(await insertRelayEntry(sql, context.sender, entry))) throw new Error(`nonce ${nonce} was given out before`)
  return entry
}

/**
 * Throws unless the attempt is the trader's own action with the relayer as sender. Anything else is a bug of the
 * caller: the Diamond would refuse it, or take it for another trader.
 */
function requireOwn({ signer }: RelayContext, { sender, calldata }: Attempt, trader: Address): void {
  const start = `${ACTION_SELECTOR}${trader.slice(2).toLowerCase().padStart(64, '0')}`
  if (sender !== signer.address) throw new Error('the attempt is for another sender than the relayer')
  if (!calldata.startsWith(start)) throw new Error("the attempt is not the trader's delegated action")
}

function actionOf({ settings }: RelayContext, { id, calldata, gas }: Attempt, trader: Address): RelayAction {
  const units = gas === null ? settings.fallbackGas : BigInt(gas)
  if (units > settings.maxGas) {
    throw new RelayRefusedError(
      'gas_too_dear',
      `This action takes ${units} gas, more than is relayed at once. Ask for less.`,
    )
  }
  return { attemptId: id, trader, calldata, gas: units }
}

/** Returns the first offer, by the fees last read from the node. */
function offeredFees({ settings, now }: RelayContext, { market }: RelayState): Fees {
  if (market === undefined || now() - market.atMs > settings.maxFeesAgeMs) throw notReady()
  const fees = firstFees(market, settings)
  if (market.baseFeeWei + fees.maxPriorityFeeWei > settings.maxFeeWei) {
    throw new RelayRefusedError('gas_too_dear', 'Gas is dearer now than this service pays. Try again later.')
  }
  return fees
}

/** Throws unless the balance covers this action as well as the highest possible cost of all that is not mined yet. */
function requireFunds({ balanceWei, hasNoFunds, outstandingWei }: RelayState, wei: bigint): void {
  if (balanceWei === undefined) throw notReady()
  if (!hasNoFunds && outstandingWei + wei <= balanceWei) return
  throw new RelayRefusedError(
    'low_balance',
    'The relayer of this service is out of gas on this chain until its operator tops it up.',
  )
}

async function requireRoom(sql: Sql, { sender, settings }: RelayContext): Promise<void> {
  if ((await countRelayEntries(sql, sender)) < settings.maxUnsettled) return
  throw new RelayRefusedError('busy', 'Too many actions wait for the chain. Try again in a moment.')
}

function notReady(): RelayRefusedError {
  return new RelayRefusedError('not_ready', 'The relayer can not reach the chain now. Try again in a moment.')
}
