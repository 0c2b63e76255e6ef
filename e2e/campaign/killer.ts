import { setTimeout as sleep } from 'node:timers/promises'
import type { ChainClient } from '@bezel/testkit/chainClient.ts'
import type { KillableService } from './killableService.ts'
import type { SeededRandom } from '@bezel/testkit/seededRandom.ts'

const KILLS_PER_LINE = 10
const ANSWERS_POLL_MS = 1
/** The longest random delay after an answer, so that the kill hits work under way. */
const MAX_AFTER_ANSWER_MS = 40

/** The counters that every campaign has. */
interface CountingJournal {
  readonly counts: ReadonlyMap<string, number>
  count(what: string): void
}

export interface KillerOptions {
  readonly service: KillableService
  readonly chain: ChainClient
  readonly journal: CountingJournal
  readonly random: SeededRandom
  readonly kills: number
  /** The time after which no kill comes, however few there were by then, except for the first one. */
  readonly maxSeconds: number
}

/** The activity between two kills. */
export interface Life {
  /** The share of kills that come while the service starts; the others come while it serves. */
  readonly killedWhileStarting: number
  /** Runs until the moment of the next kill. */
  live(): Promise<void>
  /** Sends answered requests again: none may be accepted a second time. */
  replaySome(): Promise<void>
  whileDead?(): Promise<void>
}

/** Kills the service `kills` times at random moments, and leaves it running and ready. */
export async function killAgainAndAgain(options: KillerOptions, life: Life): Promise<void> {
  const { service, journal, random, kills } = options
  const deadlineMs = Date.now() + options.maxSeconds * 1_000
  const replays: Promise<void>[] = []
  let startMs = 3_000
  for (let kill = 0; kill < kills && (kill === 0 || Date.now() < deadlineMs); kill++) {
    await stir(options)
    if (random.chance(life.killedWhileStarting)) {
      await sleep(random.next() * startMs)
      journal.count('kills while starting')
    } else {
      const sinceMs = Date.now()
      await service.once('ready')
      startMs = Date.now() - sinceMs
      replays.push(life.replaySome())
      await life.live()
      journal.count('kills while serving')
    }
    await service.kill()
    await life.whileDead?.()
    service.start()
    if ((kill + 1) % KILLS_PER_LINE === 0)
      console.log(`${kill + 1} kills, ${startMs} ms to start, ${answersOf(journal)} answers`)
  }
  await service.once('ready')
  replays.push(life.replaySome())
  await Promise.all(replays)
}

/**
 * Waits for a random number of answers or a random time, whichever comes first: a busy machine gives few answers in any
 * time.
 */
export async function sleepForAnswers(
  { journal, random }: Pick<KillerOptions, 'journal' | 'random'>,
  most: { readonly answers: number; readonly ms: number },
): Promise<void> {
  const until = answersOf(journal) + random.below(most.answers)
  const deadlineMs = Date.now() + most.ms
  while (answersOf(journal) < until && Date.now() < deadlineMs) await sleep(ANSWERS_POLL_MS)
  await sleep(random.next() * MAX_AFTER_ANSWER_MS)
}

function answersOf({ counts }: CountingJournal): number {
  return counts.get('answers') ?? 0
}

/**
 * Moves the price, so that limits and stops are hit, and changes the oracle's delay, so that requests wait across
 * kills.
 */
async function stir({ chain, random }: KillerOptions): Promise<void> {
  await chain.control('bezel_setPrice', 'BTC/USD', String(58_500 + random.below(30) * 100))
  await chain.control('bezel_setOracleDelay', random.pick([50, 150, 150, 1_500]))
}
