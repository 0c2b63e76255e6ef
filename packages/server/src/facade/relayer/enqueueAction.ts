import type { Fees, RelayAction, RelayEntry } from '../../store/relayRecord.ts'
import type { Address, Hex } from '@bezel/protocol'
import { countRelayEntries, insertRelayEntry, relayedHash, takeRelayNonce } from '../../store/relayStore.ts'
import type { Sql } from '../../store/sql.ts'
import type { Attempt } from '../../trading/orders/orderModel.ts'
import { utcDayOf } from '../../trading/spend.ts'
import { firstFees } from './fees.ts'
import { reserveGas } from './gasBudget.ts'
import { newestOf } from './relayEntry.ts'
import type { RelayContext, RelayMemory } from './relayContext.ts'
import { RelayRefusedError } from './relayRefusal.ts'
import { ACTION_SELECTOR } from './requireShape.ts'
import { signVersion } from './signVersion.ts'

export interface ActionToRelay {
  readonly attempt: Attempt
  readonly trader: Address
}

/**
 * Gives an action its nonce and signs it, inside the transaction that makes its order: all of it is kept, or nothing. Asks no node. An attempt
 * that was taken before is not taken again; its hash is the answer. Throws a `RelayRefusedError`.
 */
export async function enqueueAction(
  sql: Sql,
  context: RelayContext,
  memory: RelayMemory,
  { attempt, trader }: ActionToRelay,
): Promise<Hex> {
  const { sender, settings, now } = context
  const known = await relayedHash(sql, sender.chain, attempt.id)
  if (known !== undefined) return known
  requireOwn(context, attempt, trader)
  if (attempt.expiresAtMs <= now()) throw new RelayRefusedError('expired', 'The time for this action is over.')
  const action = actionOf(context, attempt, trader)
  const fees = offeredFees(context, memory)
  const wei = action.gas * fees.maxFeeWei
  requireFunds(memory, wei)
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
  // Too much, until the next step, when the transaction is rolled back.
  memory.outstandingWei += wei
  return newestOf(entry).hash
}

/** Takes the next nonce for it. */
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

/** It is a bug of the caller when it is not: the Diamond would refuse it, or take it for another trader. */
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

/** By the fees of the last look at the node. */
function offeredFees({ settings, now }: RelayContext, { market }: RelayMemory): Fees {
  if (market === undefined || now() - market.atMs > settings.maxFeesAgeMs) throw notReady()
  const fees = firstFees(market, settings)
  if (market.baseFeeWei + fees.maxPriorityFeeWei > settings.maxFeeWei) {
    throw new RelayRefusedError('gas_too_dear', 'Gas is dearer now than this service pays. Try again later.')
  }
  return fees
}

/** What is on its way is counted with the most that it can cost. */
function requireFunds(memory: RelayMemory, wei: bigint): void {
  const { balanceWei, hasNoFunds, outstandingWei } = memory
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
