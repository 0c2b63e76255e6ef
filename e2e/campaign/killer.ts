import { setTimeout as sleep } from 'node:timers/promises'
import type { ChainClient } from '@bezel/testkit/chainClient.ts'
import type { KillableService } from './killableService.ts'
import type { SeededRandom } from './seededRandom.ts'

const KILLS_PER_LINE = 10
const ANSWERS_POLL_MS = 1
/** Into whatever is under way. */
const MAX_AFTER_ANSWER_MS = 40

/** What every campaign counts. */
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
  /** No kill comes later, however few there were by then; but for the first. */
  readonly maxSeconds: number
}

/** What happens between two kills. */
export interface Life {
  /** Share of all kills that come while it starts; the others come while it serves. */
  readonly killedWhileStarting: number
  /** Until its end comes. */
  live(): Promise<void>
  /** Sends again what was answered before: none of it may be taken a second time. */
  replaySome(): Promise<void>
  whileDead?(): Promise<void>
}

/** Kills the service so many times at random moments, and leaves it running and ready. */
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

/** A life may end after so many answers instead of so long: a busy machine gives few in any time. */
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

/** Moves the price, so that limits and stops are hit, and makes the oracle faster or slower, so that requests wait across kills. */
async function stir({ chain, random }: KillerOptions): Promise<void> {
  await chain.control('bezel_setPrice', 'BTC/USD', String(58_500 + random.below(30) * 100))
  await chain.control('bezel_setOracleDelay', random.pick([50, 150, 150, 1_500]))
}
