import { createSeededRandom, type SeededRandom } from '../seededRandom.ts'
import type { StandInFault, SocketFault } from './providerFaults.ts'
import type { StandInLimits } from './providerLimits.ts'
import type { StandInProvider } from './standInProvider.ts'

/** The illness of one provider: the fault of its requests and that of its WebSocket. */
interface Illness {
  readonly fault: StandInFault
  readonly socketFault: SocketFault
}

/** A time in which one of two providers is ill, counted in blocks from the beginning of the schedule. */
export interface FaultPhase extends Illness {
  /** Place of the provider in the order of preference. */
  readonly provider: 0 | 1
  readonly fromBlock: number
  /** First block after the phase. */
  readonly toBlock: number
}

/** The faults of two providers. The same seed gives the same schedule. */
export interface FaultSchedule {
  readonly seed: number
  /** The plan of each provider, which it keeps through all phases. */
  readonly limits: readonly [StandInLimits, StandInLimits]
  readonly phases: readonly FaultPhase[]
  /** Number of blocks until both providers are well for good. */
  readonly blocks: number
}

const WELL: Illness = { fault: { kind: 'none' }, socketFault: { kind: 'none' } }
const AWAY: Illness = { fault: { kind: 'away' }, socketFault: { kind: 'cut' } }

/** Number of phases with one ill provider. */
const PHASES = 4
/** Length of a phase, and of the pauses between phases, in blocks. */
const MIN_PHASE_BLOCKS = 4
const PHASE_BLOCKS_SPREAD = 5
const MAX_PAUSE_BLOCKS = 3
/** Length of the phase in which both are away: short, so that what is known does not become too old. */
const MIN_AWAY_BLOCKS = 2
const AWAY_BLOCKS_SPREAD = 3
/** Share of the illnesses that strike the provider of first choice. */
const FIRST_CHOICE = 0.7

/**
 * Compute units a second of a plan that has a rate. Ten times those of a free plan, because the story mines blocks as
 * fast as they are followed.
 */
const UNITS_PER_SECOND = 5_000

type Draw = (random: SeededRandom) => Illness

const requests = (draw: (random: SeededRandom) => StandInFault): Draw => {
  return (random) => ({ fault: draw(random), socketFault: { kind: 'none' } })
}
const socket = (draw: (random: SeededRandom) => SocketFault): Draw => {
  return (random) => ({ fault: { kind: 'none' }, socketFault: draw(random) })
}
/** Draws which requests fail: all of them, or each second or third one. */
const every = (random: SeededRandom): number => 1 + random.below(3)

/** All illnesses, in the order in which the seeds go round them. */
const ILLNESSES: readonly Draw[] = [
  requests((random) => ({ kind: 'serverError', status: random.pick([500, 502, 503]), every: every(random) })),
  requests((random) => ({ kind: 'staleHead', behind: random.below(4), refuses: random.chance(0.5) })),
  socket(() => ({ kind: 'silent' })),
  requests((random) => ({ kind: 'hanging', every: every(random) })),
  requests(() => ({ kind: 'missingLogs', part: 'all' })),
  requests((random) => ({ kind: 'leftOut', every: every(random) })),
  socket(() => ({ kind: 'cut' })),
  requests((random) => ({ kind: 'otherBranch', depth: random.below(4) })),
  requests((random) => ({
    kind: 'rateLimited',
    form: random.pick(['http429', 'item429', 'item-32005']),
    every: every(random),
  })),
  requests(() => ({ kind: 'wrongChain' })),
  requests((random) => ({ kind: 'cutConnection', every: every(random) })),
  socket((random) => ({ kind: 'late', blocks: 1 + random.below(3) })),
  requests((random) => ({ kind: 'stateGone', text: random.pick(['trie', 'header']) })),
  requests((random) => ({ kind: 'cutJson', every: every(random) })),
  () => AWAY,
  requests(() => ({ kind: 'unwilling' })),
  requests((random) => ({ kind: 'wrongIds', every: every(random) })),
  socket(() => ({ kind: 'garbage' })),
  requests((random) => ({ kind: 'notJson', every: every(random) })),
  requests(() => ({ kind: 'missingLogs', part: 'half' })),
  // Each one sends many bytes, so not every request gets one.
  requests((random) => ({ kind: 'giant', every: 3 + random.below(3) })),
  socket(() => ({ kind: 'refuses' })),
]

/** Draws the plan of a provider, from a free one to one without limits. */
function drawLimits(random: SeededRandom): StandInLimits {
  const form = random.pick(['object', 'item', 'http413', 'http400'] as const)
  const text = random.pick(['wide', 'limited', 'upTo', 'exceeds'] as const)
  const refusal = random.pick(['http429', 'item-32005', 'item429'] as const)
  return {
    ...(random.chance(0.7) ? { batch: { max: random.pick([10, 20, 100]), form } } : {}),
    ...(random.chance(0.7) ? { logRange: { max: random.pick([10, 2_000, 10_000]), text } } : {}),
    ...(random.chance(0.4) ? { units: { perSecond: UNITS_PER_SECOND, form: refusal } } : {}),
  }
}

/** Draws the schedule of a seed, which is at least 1. Any 20 seeds in a row have every illness. */
export function faultSchedule(seed: number): FaultSchedule {
  const random = createSeededRandom(seed).stream('faults')
  const phases: FaultPhase[] = []
  const awayBefore = 1 + random.below(PHASES - 1)
  let block = 1
  const add = (providers: readonly (0 | 1)[], illness: Illness, blocks: number): void => {
    for (const provider of providers) phases.push({ provider, ...illness, fromBlock: block, toBlock: block + blocks })
    block += blocks + random.below(MAX_PAUSE_BLOCKS + 1)
  }
  for (let at = 0; at < PHASES; at += 1) {
    if (at === awayBefore) add([0, 1], AWAY, MIN_AWAY_BLOCKS + random.below(AWAY_BLOCKS_SPREAD))
    const illness = ILLNESSES[(seed * PHASES + at) % ILLNESSES.length]!(random)
    const provider = random.chance(FIRST_CHOICE) ? 0 : 1
    add([provider], illness, MIN_PHASE_BLOCKS + random.below(PHASE_BLOCKS_SPREAD))
  }
  const plans = createSeededRandom(seed).stream('limits')
  return {
    seed,
    limits: [drawLimits(plans), drawLimits(plans)],
    phases,
    blocks: Math.max(...phases.map(({ toBlock }) => toBlock)),
  }
}

/**
 * Makes both providers as ill as the schedule says at a block, counted from its beginning, and gives them their plans
 * at the first one.
 */
export async function applySchedule(
  { phases, limits }: FaultSchedule,
  block: number,
  providers: readonly [StandInProvider, StandInProvider],
): Promise<void> {
  for (const [place, provider] of providers.entries()) {
    if (block === 1) provider.setLimits(limits[place]!)
    const own = phases.filter((phase) => phase.provider === place)
    const begun = own.find(({ fromBlock }) => fromBlock === block)
    const isHealed = own.some(({ toBlock }) => toBlock === block)
    const change = begun ?? (isHealed ? WELL : undefined)
    if (change === undefined) continue
    provider.setSocketFault(change.socketFault)
    await provider.setFault(change.fault)
  }
}
