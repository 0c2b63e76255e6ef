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
  const unitsOf = createUnits(outbox)
  const taken = Map.groupBy(
    transactions.flatMap((transaction) => transaction.opens.map((open) => ({ transaction, open }))),
    ({ transaction, open }) => keyOf(transaction.trader!, unitsOf(transaction.attemptId, open)),
  )
  const burnt = Map.groupBy(
    burntEntries(outbox, transactions).flatMap((entry) => opensOfEntry(entry, unitsOf)),
    ({ key }) => key,
  )
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

/** An order in a transaction whose nonce was burnt. */
interface BurntOpen {
  readonly key: string
  readonly isReplacement: boolean
}

function opensOfEntry({ calldata }: OutboxEntry, unitsOf: Units): BurntOpen[] {
  const { attemptId, trader, opens } = actionIn(calldata!)
  return opens.map((open) => ({
    key: keyOf(trader!, unitsOf(attemptId, open)),
    isReplacement: open.isReplacement,
  }))
}

/** Returns the size that was asked for with an order, scaled like `AskedOpen.units`. */
type Units = (attemptId: string | null, open: MinedOpen) => number

const UNITS_PER_COIN = 1e5
/** A call's own terms tell its size only nearly: its collateral is of one price, its expected price may be another. */
const NEARLY = 0.05

/** Reads sizes from the store, by the attempt that a call carries, where its own terms nearly say the same. */
function createUnits({ attempts, orders }: Outbox): Units {
  const byId = new Map(attempts.map((attempt) => [attempt.id, attempt]))
  return (attemptId, { units }) => {
    const attempt = byId.get(attemptId ?? '')
    const size = attempt?.size ?? orders.get(attempt?.orderId ?? '')?.size
    const stored = Math.round(Number(size) * UNITS_PER_COIN)
    return Math.abs(stored - units) < NEARLY * units ? stored : units
  }
}

function problemsOfOpen(
  { journal, truth }: EnvelopeEvidence,
  asked: AskedOpen,
  taken: ReadonlyMap<string, readonly Taken[]>,
  burnt: ReadonlyMap<string, readonly BurntOpen[]>,
): string[] {
  const key = keyOf(asked.trader, asked.units)
  const all = taken.get(key) ?? []
  // A change of an order's price places it again, with the same size.
  const placed = all.filter(({ open }) => !open.isReplacement)
  const mined = placed.length > 0 ? placed : all.slice(0, 1)
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
  const isPlacedBurnt = burnt.get(key)?.some(({ isReplacement }) => !isReplacement) ?? false
  if (isPlacedBurnt) return [`${name} was mined and burnt`]
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

/**
 * Checks that no cancelled order rests, unless the cancel itself failed on the chain, expired or was burnt. A
 * reorganisation whose transactions are mined again without the relayer may number orders anew, so that a cancel hits
 * another one: the service can't prevent that.
 */
function problemsOfCancels(evidence: EnvelopeEvidence): string[] {
  const { journal, outbox, transactions } = evidence
  const minedIds = new Map(transactions.map((transaction) => [transaction.attemptId as string, transaction]))
  const burntIds = new Set(burntEntries(outbox, transactions).map(({ attemptId }) => attemptId))
  const problems: string[] = []
  for (const oid of journal.cancelled) {
    if (outbox.orders.get(String(oid))?.status !== 'open') continue
    const cancels = outbox.attempts.filter(({ orderId, kind }) => orderId === String(oid) && kind === 'cancel')
    const isExcused = cancels.some(({ id }) => burntIds.has(id) || minedIds.get(id)?.hasSucceeded === false)
    const wasRemined = [...journal.counts.keys()].some((what) => what.startsWith('reorganisations (remine'))
    if (isExcused) journal.count('cancels that failed on the chain')
    else if (wasRemined) journal.count('cancels that a reorganisation may have led astray')
    else problems.push(`the cancel of order ${oid} was a success, and it is open; ${historyOf(evidence, String(oid))}`)
  }
  return problems
}

/** Tells what became of an order's transactions on the chain, for whoever has to find out why. */
function historyOf({ journal, outbox, transactions, truth }: EnvelopeEvidence, orderId: string): string {
  const attempts = outbox.attempts.filter((attempt) => attempt.orderId === orderId)
  const told = attempts.map(({ id, kind }) => {
    const mined = transactions.find(({ attemptId }) => attemptId === id)
    const outcome = mined && truth.creations.find(({ txHash }) => txHash === mined.hash)?.outcome
    return `${kind} ${id}: ${mined === undefined ? 'not mined' : `nonce ${mined.nonce}, ${mined.hasSucceeded ? 'succeeded' : 'reverted'} ${outcome ?? ''}`}`
  })
  const reorganisations = [...journal.counts].filter(([what]) => what.startsWith('reorganisations'))
  return [...told, ...reorganisations.map(([what, count]) => `${count} ${what}`)].join('; ')
}
