import { setTimeout as sleep } from 'node:timers/promises'
import type { ChainClient } from '../devnet/chainClient.ts'
import { describe, REPLAY_AGE_MS, sendSigned } from './campaignClient.ts'
import type { Journal, SignedRequest } from './journal.ts'
import type { KillableService } from './killableService.ts'
import type { SeededRandom } from './seededRandom.ts'

/** A life ends after so long, or after so many answers: a busy machine gives few in any time. */
const MAX_LIFE_MS = 600
const MAX_LIFE_ANSWERS = 80
const MAX_WAIT_FOR_ANSWERS_MS = 5_000
/** Then into whatever is under way. */
const MAX_AFTER_ANSWER_MS = 40
const ANSWERS_POLL_MS = 1
/** Of all kills; the others come while it serves. */
const KILLED_WHILE_STARTING = 0.2
const KILLS_PER_LINE = 10
const REPLAYS_PER_LIFE = 8
/** Beyond this a refusal may speak of the timestamp instead. */
const WINDOW_MS = 29_000

export interface KillerOptions {
  readonly service: KillableService
  readonly chain: ChainClient
  readonly journal: Journal
  readonly random: SeededRandom
  readonly kills: number
  /** No kill comes later, however few there were by then; but for the first. */
  readonly maxSeconds: number
}

/** Kills the service so many times at random moments, and leaves it running and ready. */
export async function killAgainAndAgain(options: KillerOptions): Promise<void> {
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
      await (random.chance(0.4) ? sleep(random.next() * MAX_LIFE_MS) : sleepForAnswers(options))
      journal.count('kills while serving')
    }
    await service.kill()
    if ((kill + 1) % KILLS_PER_LINE === 0)
      console.log(`${kill + 1} kills, ${startMs} ms to start, ${answersOf(journal)} answers`)
    service.start()
  }
  await service.once('ready')
  replays.push(replaySome(options))
  await Promise.all(replays)
}

async function sleepForAnswers({ journal, random }: KillerOptions): Promise<void> {
  const until = answersOf(journal) + random.below(MAX_LIFE_ANSWERS)
  const deadlineMs = Date.now() + MAX_WAIT_FOR_ANSWERS_MS
  while (answersOf(journal) < until && Date.now() < deadlineMs) await sleep(ANSWERS_POLL_MS)
  await sleep(random.next() * MAX_AFTER_ANSWER_MS)
}

function answersOf({ counts }: Journal): number {
  return counts.get('answers') ?? 0
}

/** Moves the price, so that limits and stops are hit, and makes the oracle faster or slower, so that requests wait across kills. */
async function stir({ chain, random }: KillerOptions): Promise<void> {
  await chain.control('bezel_setPrice', 'BTC/USD', String(58_500 + random.below(30) * 100))
  await chain.control('bezel_setOracleDelay', random.pick([50, 150, 150, 1_500]))
}

/** Sends requests again that were answered before: none may be taken a second time. */
async function replaySome({ service, journal, random }: KillerOptions): Promise<void> {
  const fresh = journal.answered.filter(({ signedAtMs }) => Date.now() - signedAtMs < REPLAY_AGE_MS)
  const chosen = Array.from({ length: Math.min(REPLAYS_PER_LIFE, fresh.length) }, () => random.pick(fresh))
  await Promise.all(chosen.map((request) => replay(service, journal, request)))
}

async function replay(service: KillableService, journal: Journal, request: SignedRequest): Promise<void> {
  const answer = await sendSigned(service.url, request)
  if (answer === undefined || Date.now() - request.signedAtMs > WINDOW_MS)
    return journal.count('replays without a verdict')
  if (answer.status === 401 && answer.body.code === 'NONCE_REUSED') return journal.count('replays refused')
  journal.problems.push(`replayed ${describe(request)} -> ${answer.status} ${JSON.stringify(answer.body)}`)
}
