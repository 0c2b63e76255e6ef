import { setPriority } from 'node:os'
import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'
import type { SigningDomain } from '@bezel/protocol'
import type { Hex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { createSeededRandom } from '../campaign/seededRandom.ts'
import type { Ends, Ground, Kind } from './kind.ts'
import { KINDS } from './kinds.ts'

// All hostile clients. They are a process of their own, so that what they do costs the good client nothing but the service's attention.

/** What the campaign asks: first to attack, then how that went. */
export type HostileOrder = HostileAttack | { readonly kind: 'report' }

export interface HostileAttack extends Pick<Ground, 'url' | 'markets'> {
  readonly kind: 'attack'
  readonly seed: number
  readonly domain: SigningDomain
  readonly agentKey: Hex
}

/** Real attackers bring machines of their own; here they must not take the service's processor away. */
const LOWEST_PRIORITY = 19

const ends: Record<string, Record<string, number>> = {}

process.on('message', (order: HostileOrder) => {
  if (order.kind === 'report') process.send!(ends satisfies Ends)
  else attack(order)
})
process.once('disconnect', () => process.exit())
setPriority(LOWEST_PRIORITY)
process.send!('ready')

function attack({ url, markets, domain, seed, agentKey }: HostileAttack): void {
  const random = createSeededRandom(seed)
  const agent = privateKeyToAccount(agentKey)
  for (const [name, kind] of Object.entries(KINDS)) {
    ends[name] = {}
    for (let client = 0; client < kind.clients; client += 1) {
      const ground = { url, markets, domain, agent, random: random.stream(`${name} ${client}`) }
      void liveAgainAndAgain(name, kind, ground)
    }
  }
}

async function liveAgainAndAgain(name: string, { live, pauseMs }: Kind, ground: Ground): Promise<never> {
  const counts = ends[name]!
  // Not all at the same moment.
  await sleep(ground.random.next() * pauseMs)
  for (;;) {
    const end = await live(ground).then(
      (words) => [...words].join(' '),
      (error: Error) => `failed: ${error.message}`,
    )
    counts[end] = (counts[end] ?? 0) + 1
    await sleep(pauseMs)
  }
}
