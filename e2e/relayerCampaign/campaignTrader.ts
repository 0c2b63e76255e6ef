import { setTimeout as sleep } from 'node:timers/promises'
import type { Address, Hex } from 'viem'
import { signL1 } from '@bezel/testkit/signEnvelope.ts'
import type { ExchangeAction } from '../../packages/server/src/facade/signing/envelope.ts'
import type { KillableService } from '../campaign/killableService.ts'
import type { SeededRandom } from '@bezel/testkit/seededRandom.ts'
import type { AskedOpen, EnvelopeJournal, SentEnvelope, Told } from './envelopeJournal.ts'

const FACADE_PATH = '/hl/arbitrum-sepolia'

/** The age beyond which an envelope may be refused for its nonce alone. */
const REPEAT_AGE_MS = 50_000
const NOT_READY_MS = 25
const FIRST_UNITS = 1_000

/** An action that a trader wants done, with the orders it contains, in their order. */
export interface Wish {
  readonly action: ExchangeAction
  readonly opens: readonly AskedOpen[]
  /** The order named in a cancel. */
  readonly cancels?: number
  /** Time for which the action may be executed; `null` for as long as the service keeps it. */
  readonly forMs: number | null
}

/** A trader's client that survives crashes of the service. */
export interface CampaignTrader {
  readonly address: Address
  /** True when the trader opens long positions, false for short; it opens on one side only. */
  readonly isLong: boolean
  /** Returns a size that no other order of this trader has. */
  nextUnits(): number
  /** Sends a wish once and, after no answer, perhaps again: the same bytes, or the same orders newly signed. */
  send(wish: Wish): Promise<void>
  /** Reads from the info endpoint. `undefined` after no answer, or a refusal. */
  info<Answer>(type: string): Promise<Answer | undefined>
}

interface CampaignTraderOptions {
  readonly service: KillableService
  readonly journal: EnvelopeJournal
  readonly random: SeededRandom
  readonly address: Address
  readonly isLong: boolean
  /** The key of the trader's agent. */
  readonly key: Hex
}

export function createCampaignTrader(options: CampaignTraderOptions): CampaignTrader {
  const { service, journal, random, address, isLong, key } = options
  let lastNonce = 0
  let units = FIRST_UNITS

  function sign({ action, forMs }: Wish): SentEnvelope {
    const nonce = (lastNonce = Math.max(Date.now(), lastNonce + 1))
    const envelope = signL1(key, { action, nonce, ...(forMs === null ? {} : { expiresAfter: nonce + forMs }) })
    const { expiresAfter, ...rest } = envelope
    return { body: JSON.stringify(expiresAfter === null ? rest : envelope), nonce, type: action.type }
  }

  async function deliver(envelope: SentEnvelope, wish: Wish): Promise<ExchangeReply | undefined> {
    journal.count('envelopes sent')
    const reply = await post(service.url, 'exchange', envelope.body)
    if (reply === undefined) {
      journal.count('envelopes without an answer')
      for (const open of wish.opens) open.isLost = true
    } else noteAnswer(journal, envelope, wish, reply)
    return reply
  }

  /** Sends the same bytes again: they were accepted before or are now, never both. */
  async function repeat(envelope: SentEnvelope, wish: Wish): Promise<void> {
    if (Date.now() - envelope.nonce > REPEAT_AGE_MS) return
    const reply = await deliver(envelope, wish)
    const isUsed = reply !== undefined && /was already used/.test(reply.text)
    if (reply !== undefined) journal.count(isUsed ? 'lost envelopes that had arrived' : 'lost envelopes sent again')
  }

  return {
    address,
    isLong,
    nextUnits: () => (units += 1),
    async send(wish) {
      await service.once(random.chance(0.1) ? 'listening' : 'ready')
      const envelope = sign(wish)
      const reply = await deliver(envelope, wish)
      if (reply?.status === 503) return void (await sleep(NOT_READY_MS))
      if (reply !== undefined) return
      await service.once(random.chance(0.2) ? 'listening' : 'ready')
      const choice = random.next()
      if (choice < 0.45) return repeat(envelope, wish)
      // Without a client order id, sending again would make a second order.
      if (choice < 0.8 && wish.opens.length > 0 && wish.opens.every(({ cloid }) => cloid !== null)) {
        await deliver(sign(wish), wish)
      }
    },
    async info<Answer>(type: string) {
      await service.once('ready')
      const reply = await post(service.url, 'info', JSON.stringify({ type, user: address }))
      return reply?.status === 200 ? (JSON.parse(reply.text) as Answer) : undefined
    },
  }
}

/** An unparsed answer. */
interface ExchangeReply {
  readonly status: number
  readonly text: string
}

/** Sends a request. `undefined` when the connection broke before the whole answer arrived. */
export async function post(url: string, route: string, body: string): Promise<ExchangeReply | undefined> {
  try {
    const headers = { 'content-type': 'application/json' }
    const answer = await fetch(`${url}${FACADE_PATH}/${route}`, { method: 'POST', headers, body })
    return { status: answer.status, text: await answer.text() }
  } catch {
    return undefined
  }
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

/** Numbers in refusals, which are removed so that equal refusals are counted together. */
const NUMBERS = /0x[0-9a-f]+|\d[\d.,]*/g

/** Notes the outcomes in an answer for the orders of its envelope, and everything that is wrong in any answer. */
function noteAnswer(journal: EnvelopeJournal, envelope: SentEnvelope, wish: Wish, reply: ExchangeReply): void {
  // On a busy machine the node of the chain may be too slow, which is told.
  if (reply.status === 503 || (reply.status === 502 && reply.text.includes('UPSTREAM_UNAVAILABLE'))) {
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

/** Notes the statuses of an answer. A change of a single order has none: it was accepted. */
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
