import { headNumberCall, receiptCall, resultOf } from '../../chain/chainCalls.ts'
import { quantity } from '../../chain/chainJson.ts'
import type { RpcCall } from '../../chain/rpcClient.ts'
import type { RpcOutcome } from '../../chain/rpcOutcome.ts'
import { feeCalls, parseFees, weiOf } from './fees.ts'
import { finalBlock } from './finality.ts'
import { usedNoncesCall } from './loadEntries.ts'
import { parseMined, type Receipts } from './parseMined.ts'
import { newestOf } from './relayEntry.ts'
import { unminedIn, type RelayContext, type RelayMemory, type TrackedEntry } from './relayContext.ts'
import { sendOutcomeOf } from './sendOutcome.ts'

/** Bytes sent in one round trip. */
const MAX_SENDS = 16
/** Nonces ahead of the chain that nodes keep for one account. */
const MAX_AHEAD = 64
/** Receipts asked for in one round trip. */
const MAX_RECEIPTS = 48
/** Until a wallet without gas is tried again. */
const NO_FUNDS_RETRY_MS = 2_000
const MIN_REFUSED_RETRY_MS = 250

/** What one look found of an entry whose receipts were asked for. */
export interface FoundReceipts {
  readonly of: TrackedEntry
  readonly receipts: Receipts
}

/**
 * One round trip: sends what is due, in the order of nonces, and asks for the head, the used nonces, receipts, and now and then the fees.
 * Throws `NodeUnavailableError`; then nothing is known, and everything is sent and asked again.
 */
export async function lookAtNode(context: RelayContext, memory: RelayMemory): Promise<readonly FoundReceipts[]> {
  const sends = dueSends(context, memory)
  const asked = dueReceipts(context, memory)
  const areFeesDue = context.now() - memory.feesAskedAtMs >= context.settings.feesMs
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
  const found = asked.map((of) => takeReceipts(context, of, rest))
  if (areFeesDue) takeFees(context, memory, rest)
  return found
}

function sendCall({ entry }: TrackedEntry): RpcCall {
  return { method: 'eth_sendRawTransaction', params: [newestOf(entry).raw] }
}

function balanceCall({ sender }: RelayContext): RpcCall {
  return { method: 'eth_getBalance', params: [sender.sender, 'latest'] }
}

/** An action whose time is over is not sent any more: its burn comes with this step. */
export function dueSends({ now }: RelayContext, memory: RelayMemory): TrackedEntry[] {
  const nowMs = now()
  const unmined = unminedIn(memory).filter(({ entry }) => entry.nonce < memory.usedNonces! + MAX_AHEAD)
  // Without gas the first alone is tried, to see when there is some.
  return unmined
    .slice(0, memory.hasNoFunds ? 1 : unmined.length)
    .filter(({ entry, sendAtMs }) => sendAtMs <= nowMs && !isOver(entry.expiresAtMs, newestOf(entry).kind, nowMs))
    .slice(0, MAX_SENDS)
}

export function isOver(expiresAtMs: number, kind: 'action' | 'burn', nowMs: number): boolean {
  return kind === 'action' && expiresAtMs <= nowMs
}

/** Whose nonce is used and whose fate is not known, or known long enough to be final; those that waited longest first. */
function dueReceipts(context: RelayContext, memory: RelayMemory): TrackedEntry[] {
  const final = finalBlock(context, memory)
  const askedBeforeMs = context.now() - context.settings.pollMs / 2
  const due = [...memory.tracked.values()].filter(
    ({ entry, mined, askedAtMs }) =>
      entry.nonce < (memory.usedNonces ?? 0) &&
      (mined === undefined ? askedAtMs <= askedBeforeMs : mined.blockNumber <= final),
  )
  let room = MAX_RECEIPTS
  return due
    .toSorted((a, b) => a.askedAtMs - b.askedAtMs || a.entry.nonce - b.entry.nonce)
    .filter(({ entry }) => (room -= entry.versions.length) >= 0 || room + entry.versions.length === MAX_RECEIPTS)
}

function takeHead({ now }: RelayContext, memory: RelayMemory, [head, used]: readonly RpcOutcome[]): void {
  const usedNonces = quantity(resultOf(used))
  memory.nodeHead = quantity(resultOf(head))
  if (usedNonces !== memory.usedNonces) memory.lineSinceMs = now()
  memory.usedNonces = usedNonces
  for (const tracked of unminedIn(memory)) {
    tracked.missingSinceMs = undefined
    if (tracked.mined === undefined) continue
    // A reorganisation dropped it, and the nodes may have forgotten it.
    tracked.mined = undefined
    tracked.isTaken = false
    tracked.sendAtMs = 0
  }
}

function takeSent(
  { now, settings, log, sender }: RelayContext,
  memory: RelayMemory,
  sent: TrackedEntry,
  outcome: RpcOutcome,
): void {
  const said = sendOutcomeOf(outcome, newestOf(sent.entry).hash)
  const retryMs = Math.min(settings.resendMs, MIN_REFUSED_RETRY_MS * 2 ** Math.min(sent.refusals, 10))
  sent.isTaken ||= said === 'taken'
  sent.isUnderpriced = said === 'underpriced'
  sent.hopeless = said === 'hopeless' ? sent.hopeless + 1 : 0
  sent.refusals = said === 'refused' || said === 'hopeless' ? sent.refusals + 1 : 0
  sent.sendAtMs = now() + (said === 'no_funds' ? NO_FUNDS_RETRY_MS : said === 'taken' ? settings.resendMs : retryMs)
  if (said === 'no_funds' && !memory.hasNoFunds) log.error({ ...sender }, 'the relayer has no gas left: top it up')
  if (said === 'no_funds') memory.hasNoFunds = true
  else if (said === 'taken') memory.hasNoFunds = false
  if (sent.refusals !== 1) return
  const text = outcome.ok ? 'another hash' : outcome.message.slice(0, 200)
  log.warn({ ...sender, nonce: sent.entry.nonce, text }, 'the node did not take a relayed transaction')
}

function takeReceipts({ now }: RelayContext, of: TrackedEntry, rest: RpcOutcome[]): FoundReceipts {
  of.askedAtMs = now()
  return { of, receipts: parseMined(of.entry.versions, rest.splice(0, of.entry.versions.length)) }
}

/** What could not be read is asked for again in the next look. */
function takeFees({ now, settings }: RelayContext, memory: RelayMemory, outcomes: readonly RpcOutcome[]): void {
  const [history, price, balance] = outcomes
  const market = parseFees(history, price)
  const balanceWei = balance?.ok === true ? weiOf(balance.result) : undefined
  if (market !== undefined) memory.market = { ...market, atMs: now() }
  if (balanceWei !== undefined) memory.balanceWei = balanceWei
  if (market !== undefined && balanceWei !== undefined) memory.feesAskedAtMs = now()
  if (balanceWei !== undefined && balanceWei >= settings.lowBalanceWei) memory.hasNoFunds = false
}
