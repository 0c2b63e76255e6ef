import { setPriority } from 'node:os'
import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'
import type { SigningDomain } from '@bezel/protocol'
import type { Hex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { createSeededRandom } from '@bezel/testkit/seededRandom.ts'
import { STARVED, type Ends, type Ground, type Kind } from './kind.ts'
import { KINDS } from './kinds.ts'

// The process of all hostile clients. It is separate so that they cost the good client nothing but the service's time.

/** A message of the campaign: first to attack, then to report the results. */
export type HostileOrder = HostileAttack | { readonly kind: 'report' }

export interface HostileAttack extends Pick<Ground, 'url' | 'markets'> {
  readonly kind: 'attack'
  readonly seed: number
  readonly domain: SigningDomain
  readonly agentKey: Hex
  /** Factor of the pauses between two runs of a client. */
  readonly pauses: number
}

/** The process priority. Real attackers have machines of their own; here they must not take the service's processor. */
const LOWEST_PRIORITY = 19

/** The answer to a connection whose request did not come in time. */
const LATE_REQUEST = 'HTTP 400'

const ends: Record<string, Record<string, number>> = {}

process.on('message', (order: HostileOrder) => {
  if (order.kind === 'report') process.send!(ends satisfies Ends)
  else attack(order)
})
process.once('disconnect', () => process.exit())
setPriority(LOWEST_PRIORITY)
process.send!('ready')

function attack({ url, markets, domain, seed, agentKey, pauses }: HostileAttack): void {
  const random = createSeededRandom(seed)
  const agent = privateKeyToAccount(agentKey)
  for (const [name, kind] of Object.entries(KINDS)) {
    ends[name] = {}
    for (let client = 0; client < kind.clients; client += 1) {
      const ground = { url, markets, domain, agent, random: random.stream(`${name} ${client}`) }
      void liveAgainAndAgain(name, { ...kind, pauseMs: kind.pauseMs * pauses }, ground)
    }
  }
}

async function liveAgainAndAgain(name: string, kind: Kind, ground: Ground): Promise<never> {
  const { live, pauseMs, starvedAfterMs = Infinity } = kind
  const counts = ends[name]!
  // Spreads the start of the clients.
  await sleep(ground.random.next() * pauseMs)
  for (;;) {
    const startMs = performance.now()
    const told = await live(ground).then(
      (words) => [...words].join(' '),
      (error: Error) => `failed: ${error.message}`,
    )
    const isLate = told === LATE_REQUEST || performance.now() - startMs >= starvedAfterMs
    const end = isLate && !kind.ends.includes(told) ? STARVED : told
    counts[end] = (counts[end] ?? 0) + 1
    await sleep(pauseMs)
  }
}
