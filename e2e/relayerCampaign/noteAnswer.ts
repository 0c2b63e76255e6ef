import type { Wish } from './campaignTrader.ts'
import type { EnvelopeJournal, SentEnvelope, Told } from './envelopeJournal.ts'

/** An answer as it came. */
export interface ExchangeReply {
  readonly status: number
  readonly text: string
}

interface StatusObject {
  readonly resting?: { readonly oid: number }
  readonly pending?: unknown
  readonly filled?: { readonly oid: number }
  readonly error?: string
}

type Status = string | StatusObject

interface OkAnswer {
  readonly status: string
  readonly response: string | { readonly type: string; readonly data?: { readonly statuses: readonly Status[] } }
}

/** Numbers in refusals would make a count of each. */
const NUMBERS = /0x[0-9a-f]+|\d[\d.,]*/g

/** Keeps what an answer says of the orders of its envelope, and everything that is wrong whatever was asked. */
export function noteAnswer(journal: EnvelopeJournal, envelope: SentEnvelope, wish: Wish, reply: ExchangeReply): void {
  if (reply.status === 503) {
    journal.count('not ready')
    for (const open of wish.opens) open.told.push({ error: reply.text })
    return
  }
  if (reply.status !== 200) {
    journal.problems.push(`${envelope.body} -> ${reply.status} ${reply.text}`)
    return
  }
  const answer = JSON.parse(reply.text) as OkAnswer
  const { response } = answer
  journal.count('answers')
  if (typeof response === 'string') {
    journal.count(`${envelope.type} refused: ${response.replace(NUMBERS, 'N')}`)
    for (const open of wish.opens) open.told.push({ error: response })
    if (/does not exist|not yet the on-chain delegate/.test(response)) journal.problems.push(response)
  } else {
    noteStatuses(journal, envelope, wish, response.data?.statuses ?? [])
  }
  if (!envelope.body.includes('expiresAfter') || answer.status === 'ok') journal.answered.push(envelope)
}

/** A change of one order has no status of its own: it was taken. */
function noteStatuses(journal: EnvelopeJournal, envelope: SentEnvelope, wish: Wish, statuses: readonly Status[]): void {
  if (statuses.length === 0) {
    journal.count(`${envelope.type} ok`)
    for (const open of wish.opens) open.told.push('pending')
  }
  for (const [at, status] of statuses.entries()) {
    const told = toldOf(status)
    const what = typeof told === 'object' ? `refused: ${told.error.replace(NUMBERS, 'N')}` : (told ?? status)
    journal.count(`${envelope.type} ${what}`)
    if (status === 'success' && wish.cancels !== undefined) journal.cancelled.add(wish.cancels)
    const oid = typeof status === 'object' ? (status.resting ?? status.filled)?.oid : undefined
    if (oid !== undefined) journal.oids.set(oid, envelope)
    if (told !== undefined) wish.opens[at]?.told.push(told)
  }
}

function toldOf(status: Status): Told | undefined {
  if (typeof status === 'string') return undefined
  if (status.error !== undefined) return { error: status.error }
  if (status.filled !== undefined) return 'filled'
  return status.pending === undefined ? 'resting' : 'pending'
}
