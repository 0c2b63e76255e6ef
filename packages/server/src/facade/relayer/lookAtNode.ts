import { headNumberCall, receiptCall, resultOf, quantity } from '../../chain/blocks.ts'
import type { RpcCall, RpcOutcome } from '../../chain/rpcClient.ts'
import { backoffMs } from '../../ground/backoff.ts'
import type { RelayEntry } from '../../store/relayStore.ts'
import { feeCalls, parseFees, weiOf } from './fees.ts'
import { parseMined, type Receipts, sendOutcomeOf } from './nodeAnswers.ts'
import { usedNoncesCall } from './nonceSequence.ts'
import type { RelayContext } from './relayContext.ts'
import { newestOf } from './relayEntry.ts'
import { finalBlock, unminedIn, type RelayMemory, type RelayState, type TrackedEntry } from './relayMemory.ts'

/** The number of transactions sent in one round trip. */
const MAX_SENDS = 16

/** The number of nonces beyond the chain's next one that nodes keep for one account. */
const MAX_AHEAD = 64

/** The number of receipts read in one round trip. */
const MAX_RECEIPTS = 48

/** Time until a wallet without gas is tried again. */
const NO_FUNDS_RETRY_MS = 2_000

/** The receipts of one entry. */
export interface FoundReceipts {
  readonly nonce: number
  readonly receipts: Receipts
}

/** How a look is made: by the process that sends, or by one that only watches. */
type LookMode = 'send' | 'watch'

/**
 * Makes one round trip to the node: sends due transactions in the order of nonces, and reads the head, the used nonces,
 * receipts and, at intervals, the fees. Throws `NodeUnavailableError`; nothing is known then, and everything is sent
 * and read again.
 */
export async function lookAtNode(
  context: RelayContext,
  memory: RelayMemory,
  mode: LookMode = 'send',
): Promise<readonly FoundReceipts[]> {
  const { state } = memory
  const sends = mode === 'send' ? dueSends(context, state) : []
  memory.offered(sends.map(({ entry }) => entry.nonce))
  // The end of an entry is the sender's to find.
  const asked = dueReceipts(context, state).filter(({ mined }) => mode === 'send' || mined === undefined)
  const areFeesDue = context.now() - state.feesAskedAtMs >= context.settings.feesMs
  const outcomes = await context.client.batch([
    ...sends.map(sendCall),
    headNumberCall,
    usedNoncesCall(context, 'latest'),
    ...asked.flatMap(({ entry }) => entry.versions.map(({ hash }) => receiptCall(hash))),
    ...(areFeesDue ? [...feeCalls, balanceCall(context)] : []),
  ])
  const rest = outcomes.splice(sends.length)
  takeHead(context, memory, rest.splice(0, 2))
  for (const [i, sent] of sends.entries()) takeSent(context, memory, sent, outcomes[i]!)
  const found = asked.map(({ entry }) => takeReceipts(context, memory, entry, rest))
  if (areFeesDue) takeFees(context, memory, rest)
  return found
}

function sendCall({ entry }: TrackedEntry): RpcCall {
  return { method: 'eth_sendRawTransaction', params: [newestOf(entry).raw] }
}

function balanceCall({ sender }: RelayContext): RpcCall {
  return { method: 'eth_getBalance', params: [sender.sender, 'latest'] }
}

/**
 * Returns the entries to send now. An expired action is not sent any more: its burn comes with this step. Nothing is
 * sent beyond an action that waits for its target or is astray.
 */
export function dueSends({ now }: RelayContext, state: RelayState): TrackedEntry[] {
  const nowMs = now()
  const unmined = unminedIn(state).filter(
    ({ entry: { nonce } }) => nonce < state.usedNonces! + MAX_AHEAD && !state.withdrawn.has(nonce),
  )
  const held = unmined.findIndex(isHeld)
  // Without gas only the first entry is tried, which shows when there is gas again.
  return unmined
    .slice(0, held === -1 ? unmined.length : held)
    .slice(0, state.hasNoFunds ? 1 : unmined.length)
    .filter(({ entry, sendAtMs }) => sendAtMs <= nowMs && !isOver(entry.expiresAtMs, newestOf(entry).kind, nowMs))
    .slice(0, MAX_SENDS)
}

function isHeld({ entry, heldSinceMs, aim }: TrackedEntry): boolean {
  return newestOf(entry).kind === 'action' && (heldSinceMs !== undefined || aim === 'astray')
}

export function isOver(expiresAtMs: number, kind: 'action' | 'burn', nowMs: number): boolean {
  return kind === 'action' && expiresAtMs <= nowMs
}

/**
 * Returns the entries whose receipts are due: their nonce is used and their outcome is unknown, or known and deep
 * enough to be final. Those read longest ago come first.
 */
function dueReceipts(context: RelayContext, state: RelayState): TrackedEntry[] {
  const final = finalBlock(context, state)
  const askedBeforeMs = context.now() - context.settings.pollMs / 2
  const due = [...state.tracked.values()].filter(
    ({ entry, mined, askedAtMs }) =>
      entry.nonce < (state.usedNonces ?? 0) &&
      (mined === undefined ? askedAtMs <= askedBeforeMs : mined.blockNumber <= final),
  )
  let room = MAX_RECEIPTS
  return due
    .toSorted((a, b) => a.askedAtMs - b.askedAtMs || a.entry.nonce - b.entry.nonce)
    .filter(({ entry }) => (room -= entry.versions.length) >= 0 || room + entry.versions.length === MAX_RECEIPTS)
}

function takeHead({ now }: RelayContext, memory: RelayMemory, [head, used]: readonly RpcOutcome[]): void {
  const usedNonces = quantity(resultOf(used))
  memory.looked({ nodeHead: quantity(resultOf(head)), usedNonces }, now())
}

function takeSent(
  { now, settings, log, sender }: RelayContext,
  memory: RelayMemory,
  { entry, refusals }: TrackedEntry,
  outcome: RpcOutcome,
): void {
  const said = sendOutcomeOf(outcome, newestOf(entry).hash)
  const retryMs = backoffMs(refusals, 1, settings.resendMs)
  const { hasNoFunds } = memory.state
  const againMs = said === 'no_funds' ? NO_FUNDS_RETRY_MS : said === 'taken' ? settings.resendMs : retryMs
  memory.sent(entry.nonce, said, now() + againMs)
  if (said === 'no_funds' && !hasNoFunds) log.error({ ...sender }, 'the relayer has no gas left: top it up')
  // Only the first of several refusals in a row is logged.
  if (memory.state.tracked.get(entry.nonce)?.refusals !== 1) return
  const text = outcome.ok ? 'another hash' : outcome.message.slice(0, 200)
  log.warn({ ...sender, nonce: entry.nonce, text }, 'the node did not take a relayed transaction')
}

function takeReceipts(
  { now }: RelayContext,
  memory: RelayMemory,
  { nonce, versions }: RelayEntry,
  rest: RpcOutcome[],
): FoundReceipts {
  memory.asked(nonce, now())
  return { nonce, receipts: parseMined(versions, rest.splice(0, versions.length)) }
}

/** Stores the fees and the balance. An answer that could not be read is asked for again in the next round trip. */
function takeFees({ now, settings }: RelayContext, memory: RelayMemory, outcomes: readonly RpcOutcome[]): void {
  const [history, price, balance] = outcomes
  const balanceWei = balance?.ok === true ? weiOf(balance.result) : undefined
  const { lowBalanceWei } = settings
  memory.priced({ market: parseFees(history, price), balanceWei, lowBalanceWei }, now())
}
