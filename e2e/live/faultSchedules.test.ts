import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { faultSchedule } from '@bezel/testkit/live/faultSchedule.ts'
import { runSchedule } from './faultSchedules/runSchedule.ts'
import { startTwinWorld, type TwinWorld } from './faultSchedules/twinWorld.ts'

const { env } = process
/** Number of seeds of a usual run, and of a campaign. */
const COUNT = Number(env['CAMPAIGN'] ?? 3)
/** The first and the last seed: `SEED=7` for one, `SEED=7-12` for some. */
const [FIRST, LAST] = seedsOf(env['SEED'] ?? `1-${COUNT}`)
/** Number of schedules on one chain. Accounts grow with each, and so does what is compared. */
const SCHEDULES_PER_WORLD = 5
const MAX_PROBLEMS_SHOWN = 4

describe('a service whose providers fail in turn', () => {
  for (let first = FIRST; first <= LAST; first += SCHEDULES_PER_WORLD) {
    const last = Math.min(LAST, first + SCHEDULES_PER_WORLD - 1)
    it(`ends as one whose providers never did, and tells nothing wrong meanwhile: seeds ${first} to ${last}`, async () => {
      const world = await startTwinWorld()
      try {
        for (let seed = first; seed <= last; seed += 1) await runSeed(world, seed)
      } finally {
        await world.stop()
      }
    })
  }
})

async function runSeed(world: TwinWorld, seed: number): Promise<void> {
  const schedule = faultSchedule(seed)
  const { problems, counts } = await runSchedule(world, schedule)
  const told = [...counts].toSorted().map(([name, count]) => `${count} ${name}`)
  const ills = schedule.phases.map(({ provider, fault, socketFault, fromBlock, toBlock }) => {
    const kind = fault.kind === 'none' ? `socket ${socketFault.kind}` : fault.kind
    return `${provider}: ${kind} ${fromBlock}-${toBlock}`
  })
  console.log(`seed ${seed} (${ills.join(', ')}): ${told.join(', ')}`)
  assert.deepEqual(problems.slice(0, MAX_PROBLEMS_SHOWN), [], `SEED=${seed}: ${problems.length} problems`)
}

function seedsOf(text: string): readonly [number, number] {
  const [first = 1, last = first] = text.split('-').map(Number)
  return [first, last]
}
