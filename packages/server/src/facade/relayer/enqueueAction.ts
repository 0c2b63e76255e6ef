import type { Address, Hex } from '@bezel/protocol'
import type { RelayPurpose } from '../../orders/signedWrite.ts'
import type { AuditOrigin } from '../../store/auditStore.ts'
import { noteActiveTrader } from '../../store/relayGasStore.ts'
import {
  type Fees,
  type RelayAction,
  type RelayEntry,
  insertRelayEntry,
  readRelayedHash,
  takeRelayNonce,
} from '../../store/relayStore.ts'
import type { Sql, Transaction } from '../../store/sql.ts'
import type { Attempt } from '../../trading/orders/orderModel.ts'
import { utcDayOf } from '../../trading/scope.ts'
import { readAims } from './aims.ts'
import { exitWei, feeCapOf, holdExit, listPayingExits, useExits } from './exitGas.ts'
import { firstFees, isTooDear } from './fees.ts'
import { admitAction, recountGas, RelayRefusedError, requireFundsOfExit } from './gasBudget.ts'
import type { RelayContext } from './relayContext.ts'
import { newestOf, signVersion } from './relayEntry.ts'
import { ACTION_SELECTOR } from './relayerKey.ts'
import type { RelayMemory, RelayState } from './relayMemory.ts'

export interface ActionToRelay {
  readonly attempt: Attempt
  readonly trader: Address
  /** The agent that asked for it. */
  readonly agent: Address
  readonly purpose: RelayPurpose
  /** The request, for the audit log of refusals. Absent for work that the service does by itself. */
  readonly origin?: AuditOrigin | undefined
}

/**
 * Gives an action its nonce and signs it, in the transaction that makes its order, so that all of it is stored or
 * nothing. Asks no node. For an attempt that was enqueued before it returns the same hash. Throws a
 * `RelayRefusedError`.
 */
export async function enqueueAction(
  sql: Transaction,
  context: RelayContext,
  memory: RelayMemory,
  of: ActionToRelay,
): Promise<Hex> {
  const { attempt, trader, agent, purpose } = of
  const { sender, settings, now } = context
  const { chain } = sender
  const known = await readRelayedHash(sql, chain, attempt.id)
  if (known !== undefined) return known
  requireOwn(context, attempt, trader)
  if (attempt.expiresAtMs <= now()) throw new RelayRefusedError('expired', 'The time for this action is over.')
  const gas = gasOf(context, attempt)
  // Before the sums of all traders are read: whoever has a nonce is alone with the relayer's queue until the commit.
  const nonce = await takeNonce(sql, context)
  const exits = await listPayingExits(sql, sender, { purpose, trader, usedNonces: memory.state.minedNonces })
  const pooledWei = exits.reduce((sum, exit) => sum + exit.wei, 0n)
  const fees = offeredFees(context, memory.state, feeCapOf(settings, { wei: pooledWei, gas }))
  const wei = gas * fees.maxFeeWei
  const isExit = exits.length > 0 && pooledWei >= wei
  if (isExit) requireFundsOfExit(memory.state, wei)
  else {
    const asideWei = purpose.kind === 'open' ? exitWei(gas, settings) : 0n
    await admitAction(sql, context, memory.state, { trader, wei: wei - pooledWei, asideWei })
  }
  const { id: attemptId, calldata } = attempt
  const aims = await readAims(sql, chain, { trader, calldata })
  const action = { attemptId, trader, agent, isExit, calldata, gas, aims }
  const terms = { nonce, action, fees, expiresAtMs: attempt.expiresAtMs, day: utcDayOf(now()), countedWei: 0n }
  const entry = await insertAction(sql, context, terms)
  await useExits(sql, sender, entry.nonce, exits)
  await recountGas(sql, sender, entry, wei)
  if (purpose.kind === 'open') {
    await holdExit(sql, { chain, orderId: purpose.orderId, trader, nowMs: now(), openGas: gas }, settings)
  }
  await noteActiveTrader(sql, { chain, trader, atMs: now() })
  sql.afterCommit(() => memory.reserved(entry.nonce, wei))
  return newestOf(entry).hash
}

/** Takes the next nonce, used up when the transaction commits. Throws a `RelayRefusedError` before the first use. */
export async function takeNonce(sql: Sql, { sender }: Pick<RelayContext, 'sender'>): Promise<number> {
  const nonce = await takeRelayNonce(sql, sender)
  if (nonce === undefined) throw notReady()
  return nonce
}

/** Stores an action as the entry of a nonce that the transaction took. */
export async function insertAction(
  sql: Sql,
  context: RelayContext,
  of: Pick<RelayEntry, 'nonce' | 'expiresAtMs' | 'day' | 'countedWei'> & {
    readonly action: RelayAction
    readonly fees: Fees
  },
): Promise<RelayEntry> {
  const { fees, ...terms } = of
  const { nonce } = terms
  const version = signVersion(context, { nonce, action: terms.action }, { number: 0, kind: 'action', fees })
  const entry = { ...terms, versions: [version] }
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

/** Returns the gas limit of an action, in units of gas. */
function gasOf({ settings }: RelayContext, { gas }: Attempt): bigint {
  const units = gas === null ? settings.fallbackGas : BigInt(gas)
  if (units <= settings.maxGas) return units
  throw new RelayRefusedError(
    'gas_too_dear',
    `This action takes ${units} gas, more than is relayed at once. Ask for less.`,
  )
}

/** Returns the first offer, by the fees last read from the node, of at most `maxFeeWei`. */
function offeredFees({ settings, now }: RelayContext, { market, balanceWei }: RelayState, maxFeeWei: bigint): Fees {
  if (market === undefined || balanceWei === undefined || now() - market.atMs > settings.maxFeesAgeMs) throw notReady()
  const terms = { ...settings, maxFeeWei }
  if (!isTooDear(market, terms)) return firstFees(market, terms)
  throw new RelayRefusedError('gas_too_dear', 'Gas is dearer now than this service pays. Try again later.')
}

function notReady(): RelayRefusedError {
  return new RelayRefusedError('not_ready', 'The relayer can not reach the chain now. Try again in a moment.')
}
