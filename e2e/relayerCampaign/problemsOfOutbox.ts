import type { Outbox, OutboxEntry } from './readOutbox.ts'
import { actionIn, isSame, type RelayedTransaction } from '@bezel/testkit/relayedTransactions.ts'

/** Returns everything in the relayer's store that contradicts itself or the chain. */
export function problemsOfOutbox(outbox: Outbox, transactions: readonly RelayedTransaction[]): string[] {
  const problems: string[] = []
  if (outbox.nextNonce !== transactions.length) {
    problems.push(`the next nonce is ${outbox.nextNonce}, the chain used ${transactions.length}`)
  }
  const entries = new Map(outbox.entries.map((entry) => [entry.nonce, entry]))
  for (const transaction of transactions) {
    const entry = entries.get(transaction.nonce)
    if (entry === undefined) problems.push(`nonce ${transaction.nonce} was mined and is not in the outbox`)
    else problems.push(...problemsOfEntry(entry, transaction))
  }
  return [...problems, ...problemsOfAttempts(outbox), ...problemsOfGas(outbox, transactions)]
}

function problemsOfEntry(entry: OutboxEntry, transaction: RelayedTransaction): string[] {
  const { nonce, state, attemptId, calldata, expiresAtMs, countedWei, versions } = entry
  const { hash, input, costWei } = transaction
  const version = versions.find((of) => of.hash === hash)
  const problems: string[] = []
  if (state !== 'done') problems.push(`nonce ${nonce} is mined and final, and ${state} in the outbox`)
  if (version === undefined) return [...problems, `nonce ${nonce} was used by ${hash}, which nobody kept`]
  if (version.kind === 'burn') {
    const earlyMs = expiresAtMs - version.createdAtMs
    if (earlyMs > 0) problems.push(`nonce ${nonce} was burnt ${earlyMs} ms before the time of its action was over`)
  } else if (!isSame(input, calldata) || !isSame(transaction.attemptId, attemptId)) {
    problems.push(`nonce ${nonce} carries another action than the outbox has`)
  }
  if (countedWei !== costWei) problems.push(`nonce ${nonce} cost ${costWei} wei and counts ${countedWei}`)
  return problems
}

/** Checks that each attempt for the relayer has one entry, and that each entry with an order has an attempt. */
function problemsOfAttempts({ attempts, entries }: Outbox): string[] {
  const problems: string[] = []
  const byAttempt = Map.groupBy(entries, ({ attemptId }) => attemptId)
  for (const { id, orderId, kind } of attempts) {
    const own = byAttempt.get(id) ?? []
    if (own.length !== 1) problems.push(`the ${kind} attempt ${id} of order ${orderId} has ${own.length} entries`)
    byAttempt.delete(id)
  }
  for (const [id, [entry]] of byAttempt) {
    // A change of a position is not an order and has no attempt.
    const isOrder = entry!.calldata !== null && actionIn(entry!.calldata).opens.length > 0
    if (isOrder) problems.push(`attempt ${id} of nonce ${entry!.nonce} is not in the store`)
  }
  return problems
}

/** Checks that the gas counted on each day is the gas paid on the chain, and what is set aside or counts twice. */
function problemsOfGas({ gas, entries, exits }: Outbox, transactions: readonly RelayedTransaction[]): string[] {
  const sums = new Map<string, bigint>()
  const add = (key: string, wei: bigint): void => void sums.set(key, (sums.get(key) ?? 0n) + wei)
  for (const { nonce, day, trader } of entries) {
    const costWei = transactions[nonce]?.costWei ?? 0n
    add(`${day} `, costWei)
    if (trader !== null) add(`${day} ${trader}`, costWei)
  }
  for (const { day, trader, asideWei, surchargeWei } of exits) {
    add(`${day} `, asideWei)
    add(`${day} ${trader}`, asideWei + surchargeWei)
  }
  return [...new Set([...sums.keys(), ...gas.keys()])]
    .filter((key) => (sums.get(key) ?? 0n) !== (gas.get(key) ?? 0n))
    .map((key) => `the gas of "${key}" is ${gas.get(key)}, the chain says ${sums.get(key)}`)
}
