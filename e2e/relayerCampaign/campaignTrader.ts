import { setTimeout as sleep } from 'node:timers/promises'
import type { Address, Hex } from 'viem'
import type { JsonValue } from '../../packages/server/src/json/parseStrictJson.ts'
import type { ExchangeAction } from '../../packages/server/src/facade/signing/envelope.ts'
import { signL1 } from '@bezel/testkit/signEnvelope.ts'
import type { KillableService } from '../campaign/killableService.ts'
import type { SeededRandom } from '../campaign/seededRandom.ts'
import type { AskedOpen, EnvelopeJournal, SentEnvelope } from './envelopeJournal.ts'
import { noteAnswer, type ExchangeReply } from './noteAnswer.ts'

export const FACADE_PATH = '/hl/arbitrum-sepolia'
/** An envelope with an older nonce may be refused for that alone. */
const REPEAT_AGE_MS = 50_000
const NOT_READY_MS = 25

/** What a trader wants: an action, and the orders in it in their order. */
export interface Wish {
  readonly action: ExchangeAction
  readonly opens: readonly AskedOpen[]
  /** Named in a cancel. */
  readonly cancels?: number
  /** How long it is wanted; `null`: as long as the service keeps it. */
  readonly forMs: number | null
}

/** The program of a trader that lives through crashes of the service. */
export interface CampaignTrader {
  readonly address: Address
  /** Long or short: it opens on one side only. */
  readonly isLong: boolean
  /** A size that no other order of this trader has. */
  nextUnits(): number
  /** Sends a wish once, and after no answer perhaps again: the same bytes, or the same orders newly signed. */
  send(wish: Wish): Promise<void>
  /** `undefined`: no answer, or a refusal. */
  info(type: string): Promise<JsonValue | undefined>
}

export interface CampaignTraderOptions {
  readonly service: KillableService
  readonly journal: EnvelopeJournal
  readonly random: SeededRandom
  readonly address: Address
  readonly isLong: boolean
  /** Of its agent. */
  readonly key: Hex
}

const FIRST_UNITS = 1_000

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

  /** Sent again as it was: it was taken before, or it is now, but never both. */
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
      // Without an id of its own a second one would be a second order.
      if (choice < 0.8 && wish.opens.length > 0 && wish.opens.every(({ cloid }) => cloid !== null)) {
        await deliver(sign(wish), wish)
      }
    },
    async info(type) {
      await service.once('ready')
      const reply = await post(service.url, 'info', JSON.stringify({ type, user: address }))
      return reply?.status === 200 ? (JSON.parse(reply.text) as JsonValue) : undefined
    },
  }
}

/** `undefined`: the connection broke before the whole answer was here. */
export async function post(url: string, route: string, body: string): Promise<ExchangeReply | undefined> {
  try {
    const headers = { 'content-type': 'application/json' }
    const answer = await fetch(`${url}${FACADE_PATH}/${route}`, { method: 'POST', headers, body })
    return { status: answer.status, text: await answer.text() }
  } catch {
    return undefined
  }
}
