import { setTimeout as sleep } from 'node:timers/promises'
import type { KillableService } from '../campaign/killableService.ts'
import { sleepForAnswers, type KillerOptions, type Life } from '../campaign/killer.ts'
import { post } from './campaignTrader.ts'
import type { EnvelopeJournal, SentEnvelope } from './envelopeJournal.ts'

const MAX_LIFE_MS = 600
const MAX_LIFE_ANSWERS = { answers: 30, ms: 4_000 }
const KILLED_WHILE_STARTING = 0.15
/** The share of the service's lives, and of its downtimes, that get a reorganisation. */
const REORGANISED = 0.15
/** The largest reorganisation, far less deep than finality. */
const MAX_REORG_BLOCKS = 12
const REPLAYS_PER_LIFE = 6
/** The number of newest envelopes from which replays are picked. */
const REPLAYED_ENVELOPES = 200

type Options = KillerOptions & { readonly journal: EnvelopeJournal }

/** Returns the life in which traders continue their envelopes between two kills, with some reorganisations. */
export function traderLife(options: Options): Life {
  const { random } = options
  const pause = (): Promise<void> =>
    random.chance(0.3) ? sleep(random.next() * MAX_LIFE_MS) : sleepForAnswers(options, MAX_LIFE_ANSWERS)
  return {
    killedWhileStarting: KILLED_WHILE_STARTING,
    replaySome: () => replaySomeEnvelopes(options),
    async live() {
      if (random.chance(REORGANISED)) {
        await pause()
        await reorganise(options, 'alive')
      }
      await pause()
    },
    async whileDead() {
      if (random.chance(REORGANISED)) await reorganise(options, 'dead')
    },
  }
}

/** Removes the newest blocks: their transactions are dropped, or mined again later. */
async function reorganise({ chain, journal, random }: Options, serviceIs: 'dead' | 'alive'): Promise<void> {
  const mode = random.pick(['drop', 'remine'])
  await chain.control('bezel_reorg', 1 + random.below(MAX_REORG_BLOCKS), mode)
  journal.count(`reorganisations (${mode}, service ${serviceIs})`)
}

/** Sends answered envelopes again. */
export async function replaySomeEnvelopes({
  service,
  journal,
  random,
}: Pick<Options, 'service' | 'journal' | 'random'>): Promise<void> {
  const last = journal.answered.slice(-REPLAYED_ENVELOPES)
  const chosen = Array.from({ length: Math.min(REPLAYS_PER_LIFE, last.length) }, () => random.pick(last))
  await Promise.all(chosen.map((envelope) => replay(service, journal, envelope)))
}

async function replay(service: KillableService, journal: EnvelopeJournal, envelope: SentEnvelope): Promise<void> {
  const reply = await post(service.url, 'exchange', envelope.body)
  if (reply === undefined || reply.status === 503) return journal.count('replays without a verdict')
  if (reply.status === 200 && /"response":"(?:Invalid nonce|Action expired)/.test(reply.text)) {
    return journal.count(/already used/.test(reply.text) ? 'replays refused' : 'replays refused for their age')
  }
  journal.problems.push(`replayed ${envelope.body} -> ${reply.status} ${reply.text}`)
}
