import type { ChainTruth, Creation } from '../campaign/chainTruth.ts'
import type { AskedOpen, EnvelopeJournal, Told } from './envelopeJournal.ts'
import type { Outbox, OutboxEntry } from './readOutbox.ts'
import { actionIn, type MinedOpen, type RelayedTransaction } from '@bezel/testkit/relayedTransactions.ts'

export interface EnvelopeEvidence {
  readonly journal: EnvelopeJournal
  readonly outbox: Outbox
  readonly transactions: readonly RelayedTransaction[]
  readonly truth: ChainTruth
}

/** A mined order with its transaction. */
interface Taken {
  readonly transaction: RelayedTransaction
  readonly open: MinedOpen
}

const LATE = /was not mined in time/

/** Returns the differences between what happened to the traders' orders and what they were told. */
export function problemsOfEnvelopes(evidence: EnvelopeEvidence): string[] {
  const { journal, transactions, outbox } = evidence
  const taken = Map.groupBy(
    transactions.flatMap((transaction) => transaction.opens.map((open) => ({ transaction, open }))),
    ({ transaction, open }) => keyOf(transaction.trader!, open.units),
  )
  const burnt = new Set(burntEntries(outbox, transactions).flatMap(keysOfEntry))
  const asked = new Set(journal.opens.map(({ trader, units }) => keyOf(trader, units)))
  const strange = [...taken.keys()].filter((key) => !asked.has(key)).map((key) => `nobody asked for ${key}`)
  return [
    ...strange,
    ...journal.opens.flatMap((open) => problemsOfOpen(evidence, open, taken, burnt)),
    ...problemsOfOids(evidence),
    ...problemsOfCancels(evidence),
  ]
}

function keyOf(trader: string, units: number): string {
  return `${trader.toLowerCase()} ${units}`
}

function burntEntries({ entries }: Outbox, transactions: readonly RelayedTransaction[]): OutboxEntry[] {
  return entries.filter(({ nonce, attemptId }) => attemptId !== null && transactions[nonce]?.input === '0x')
}

function keysOfEntry({ calldata }: OutboxEntry): string[] {
  const { trader, opens } = actionIn(calldata!)
  return opens.map(({ units }) => keyOf(trader!, units))
}

function problemsOfOpen(
  { journal, truth }: EnvelopeEvidence,
  asked: AskedOpen,
  taken: ReadonlyMap<string, readonly Taken[]>,
  burnt: ReadonlySet<string>,
): string[] {
  const key = keyOf(asked.trader, asked.units)
  const mined = taken.get(key) ?? []
  const name = `${key} (${asked.cloid ?? 'no cloid'}, told ${asked.told.map(textOf).join(', ') || 'nothing'})`
  if (mined.length > 1) return [`${name} was mined ${mined.length} times`]
  const [one] = mined
  const isPromised = asked.told.some((told) => typeof told === 'string')
  if (one === undefined) {
    if (isPromised && !burnt.has(key)) return [`${name} never came to the chain`]
    journal.count(burnt.has(key) ? 'orders whose time was over' : 'orders that never were')
    return []
  }
  journal.count(
    isPromised
      ? 'orders promised and mined'
      : asked.isLost
        ? 'orders mined without an answer'
        : 'orders mined and refused',
  )
  if (burnt.has(key)) return [`${name} was mined and burnt`]
  const hasTriggers = one.open.tp === (asked.tp ?? one.open.tp) && one.open.sl === (asked.sl ?? one.open.sl)
  if (!hasTriggers) return [`${name} was mined with tp ${one.open.tp} and sl ${one.open.sl}`]
  return isPromised || asked.isLost ? [] : problemsOfRefused(journal, name, asked, creationOf(truth, one))
}

/**
 * Checks that an order for which every answer was a refusal is not live on the chain. Allowed are a refusal because the
 * order was not mined in time, after which it may still be mined, and a campaign with reorganisations, which may revive
 * it.
 */
function problemsOfRefused(
  journal: EnvelopeJournal,
  name: string,
  { told }: AskedOpen,
  creation: Creation | undefined,
): string[] {
  const isLive = creation?.outcome === 'resting' || creation?.outcome === 'executed'
  if (!isLive) return []
  const isLate = told.some((one) => typeof one === 'object' && LATE.test(one.error))
  const wasReorganised = [...journal.counts.keys()].some((what) => what.startsWith('reorganisations'))
  journal.count('orders refused and revived')
  return isLate || wasReorganised ? [] : [`${name} is ${creation.outcome}`]
}

function creationOf({ creations }: ChainTruth, { transaction }: Taken): Creation | undefined {
  return creations.find(({ txHash }) => txHash === transaction.hash)
}

function textOf(told: Told): string {
  return typeof told === 'string' ? told : `"${told.error}"`
}

/** Checks that every order an answer named exists, and that its transaction was mined once or given up in time. */
function problemsOfOids({ journal, outbox, transactions }: EnvelopeEvidence): string[] {
  const minedIds = new Set(transactions.map(({ attemptId }) => attemptId))
  const burntIds = new Set(burntEntries(outbox, transactions).map(({ attemptId }) => attemptId))
  const attempts = Map.groupBy(outbox.attempts, ({ orderId }) => orderId)
  const problems: string[] = []
  for (const [oid, envelope] of journal.oids) {
    const id = String(oid)
    if (outbox.triggers.has(id)) continue
    const opening = (attempts.get(id) ?? []).filter(({ kind }) => kind === 'open')
    const settled = opening.filter((of) => minedIds.has(of.id as `0x${string}`) || burntIds.has(of.id))
    if (!outbox.orders.has(id)) problems.push(`order ${id} is lost: ${envelope.body}`)
    else if (settled.length !== 1 || opening.length !== 1) {
      problems.push(
        `order ${id} has ${opening.length} attempts and ${settled.length} of them settled: ${envelope.body}`,
      )
    }
  }
  for (const { trader, cloid, told } of journal.opens) {
    const isPromised = told.some((one) => typeof one === 'string')
    if (cloid !== null && isPromised && !outbox.orderOfCloid.has(`${trader} ${cloid}`)) {
      problems.push(`cloid ${cloid} is lost`)
    }
  }
  return problems
}

/** Checks that no cancelled order rests, unless the cancel itself failed on the chain or expired. */
function problemsOfCancels({ journal, outbox, transactions }: EnvelopeEvidence): string[] {
  const minedIds = new Map(transactions.map((transaction) => [transaction.attemptId as string, transaction]))
  const burntIds = new Set(burntEntries(outbox, transactions).map(({ attemptId }) => attemptId))
  const problems: string[] = []
  for (const oid of journal.cancelled) {
    if (outbox.orders.get(String(oid))?.status !== 'open') continue
    const cancels = outbox.attempts.filter(({ orderId, kind }) => orderId === String(oid) && kind === 'cancel')
    const isExcused = cancels.some(({ id }) => burntIds.has(id) || minedIds.get(id)?.hasSucceeded === false)
    if (isExcused) journal.count('cancels that failed on the chain')
    else problems.push(`the cancel of order ${oid} was a success, and it is open`)
  }
  return problems
}
