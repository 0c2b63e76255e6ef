import { setTimeout as sleep } from 'node:timers/promises'
import type { KillableService } from '../campaign/killableService.ts'
import type { SeededRandom } from '../campaign/seededRandom.ts'
import type { ChainClient } from '../devnet/chainClient.ts'
import { post } from './campaignTrader.ts'
import type { EnvelopeJournal, SentEnvelope } from './envelopeJournal.ts'

/** A life ends after so long, or after so many answers: a busy machine gives few in any time. */
const MAX_LIFE_MS = 600
const MAX_LIFE_ANSWERS = 30
const MAX_WAIT_FOR_ANSWERS_MS = 4_000
/** Then into whatever is under way. */
const MAX_AFTER_ANSWER_MS = 40
const ANSWERS_POLL_MS = 1
/** Of all kills; the others come while it serves. */
const KILLED_WHILE_STARTING = 0.15
/** Of all lives and deaths. */
const REORGANISED = 0.15
/** Far less than what is final. */
const MAX_REORG_BLOCKS = 12
const KILLS_PER_LINE = 10
const REPLAYS_PER_LIFE = 6
/** Replays come from the last so many. */
const REPLAYED_ENVELOPES = 200

export interface RelayerKillerOptions {
  readonly service: KillableService
  readonly chain: ChainClient
  readonly journal: EnvelopeJournal
  readonly random: SeededRandom
  readonly kills: number
  /** No kill comes later, however few there were by then; but for the first. */
  readonly maxSeconds: number
}

/** Kills the service so many times at random moments, with a reorganisation now and then, and leaves it running and ready. */
export async function killRelayerAgainAndAgain(options: RelayerKillerOptions): Promise<void> {
  const { service, journal, random, kills } = options
  const deadlineMs = Date.now() + options.maxSeconds * 1_000
  const replays: Promise<void>[] = []
  let startMs = 3_000
  for (let kill = 0; kill < kills && (kill === 0 || Date.now() < deadlineMs); kill++) {
    await stir(options)
    if (random.chance(KILLED_WHILE_STARTING)) {
      await sleep(random.next() * startMs)
      journal.count('kills while starting')
    } else {
      const sinceMs = Date.now()
      await service.once('ready')
      startMs = Date.now() - sinceMs
      replays.push(replaySome(options))
      await live(options)
      journal.count('kills while serving')
    }
    await service.kill()
    if (random.chance(REORGANISED)) await reorganise(options, 'dead')
    service.start()
    if ((kill + 1) % KILLS_PER_LINE === 0)
      console.log(`${kill + 1} kills, ${startMs} ms to start, ${answersOf(journal)} answers`)
  }
  await service.once('ready')
  replays.push(replaySome(options))
  await Promise.all(replays)
}

/** Until its end comes. */
async function live(options: RelayerKillerOptions): Promise<void> {
  const { random } = options
  const pause = (): Promise<void> =>
    random.chance(0.3) ? sleep(random.next() * MAX_LIFE_MS) : sleepForAnswers(options)
  if (random.chance(REORGANISED)) {
    await pause()
    await reorganise(options, 'alive')
  }
  await pause()
}

async function sleepForAnswers({ journal, random }: RelayerKillerOptions): Promise<void> {
  const until = answersOf(journal) + random.below(MAX_LIFE_ANSWERS)
  const deadlineMs = Date.now() + MAX_WAIT_FOR_ANSWERS_MS
  while (answersOf(journal) < until && Date.now() < deadlineMs) await sleep(ANSWERS_POLL_MS)
  await sleep(random.next() * MAX_AFTER_ANSWER_MS)
}

function answersOf({ counts }: EnvelopeJournal): number {
  return counts.get('answers') ?? 0
}

/** Moves the price, so that limits and stops are hit, and makes the oracle faster or slower, so that orders wait across kills. */
async function stir({ chain, random }: RelayerKillerOptions): Promise<void> {
  await chain.control('bezel_setPrice', 'BTC/USD', String(58_500 + random.below(30) * 100))
  await chain.control('bezel_setOracleDelay', random.pick([50, 150, 150, 1_500]))
}

/** Takes the newest blocks away: their transactions are forgotten, or come again later. */
async function reorganise({ chain, journal, random }: RelayerKillerOptions, while_: 'dead' | 'alive'): Promise<void> {
  const mode = random.pick(['drop', 'remine'])
  await chain.control('bezel_reorg', 1 + random.below(MAX_REORG_BLOCKS), mode)
  journal.count(`reorganisations (${mode}, service ${while_})`)
}

/** Sends envelopes again that were answered before: none may be taken a second time. */
export async function replaySome({ service, journal, random }: RelayerKillerOptions): Promise<void> {
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
