import { setTimeout as sleep } from 'node:timers/promises'
import { describe, REPLAY_AGE_MS, sendSigned } from './campaignClient.ts'
import type { Journal, SignedRequest } from './journal.ts'
import type { KillableService } from './killableService.ts'
import { sleepForAnswers, type KillerOptions, type Life } from './killer.ts'

const MAX_LIFE_MS = 600
const MAX_LIFE_ANSWERS = { answers: 80, ms: 5_000 }
const KILLED_WHILE_STARTING = 0.2
const REPLAYS_PER_LIFE = 8
/** The age of a signed request up to which a refusal must name the nonce. Beyond it, it may name the timestamp. */
const WINDOW_MS = 29_000

/** Returns the life in which agents continue their requests between two kills. */
export function agentLife(options: KillerOptions & { readonly journal: Journal }): Life {
  const { random } = options
  return {
    killedWhileStarting: KILLED_WHILE_STARTING,
    live: () => (random.chance(0.4) ? sleep(random.next() * MAX_LIFE_MS) : sleepForAnswers(options, MAX_LIFE_ANSWERS)),
    replaySome: () => replaySome(options),
  }
}

async function replaySome({ service, journal, random }: KillerOptions & { readonly journal: Journal }): Promise<void> {
  const fresh = journal.answered.filter(({ signedAtMs }) => Date.now() - signedAtMs < REPLAY_AGE_MS)
  const chosen = Array.from({ length: Math.min(REPLAYS_PER_LIFE, fresh.length) }, () => random.pick(fresh))
  await Promise.all(chosen.map((request) => replay(service, journal, request)))
}

async function replay(service: KillableService, journal: Journal, request: SignedRequest): Promise<void> {
  const answer = await sendSigned(service.url, request)
  const isLate = Date.now() - request.signedAtMs > WINDOW_MS
  if (answer === undefined || answer.status === 503 || isLate) return journal.count('replays without a verdict')
  if (answer.status === 401 && answer.body.code === 'NONCE_REUSED') return journal.count('replays refused')
  journal.problems.push(`replayed ${describe(request)} -> ${answer.status} ${JSON.stringify(answer.body)}`)
}
