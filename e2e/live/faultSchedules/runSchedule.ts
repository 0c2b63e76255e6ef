import { createSeededRandom } from '@bezel/testkit/seededRandom.ts'
import { applySchedule, type FaultSchedule } from '@bezel/testkit/live/faultSchedule.ts'
import { readPending } from '../../campaign/checkAnswers.ts'
import { createWallet } from '../../campaign/wallet.ts'
import { problemsOfTwins } from './compareTwins.ts'
import { createJudgedReads } from './judgedReads.ts'
import { tradeUnderFaults, type Tally } from './tradeUnderFaults.ts'
import type { TwinWorld } from './twinWorld.ts'

/** The outcome of a schedule. Everything was right when there are no problems. */
export interface ScheduleReport {
  readonly problems: readonly string[]
  readonly counts: ReadonlyMap<string, number>
}

/** Lets the traders trade while the providers fail by the schedule, then compares the service with its twin. */
export async function runSchedule(world: TwinWorld, schedule: FaultSchedule): Promise<ScheduleReport> {
  const { chain, clients, providers, stores } = world
  const random = createSeededRandom(schedule.seed)
  const tally: Tally = { counts: new Map(), problems: [] }
  const reads = createJudgedReads(chain, clients)
  const firstBlock = Number(await chain.client.getBlockNumber({ cacheTime: 0 }))
  let isOver = false
  const trading = clients.map((client, place) => {
    const name = `${schedule.seed}-${place}`
    const { nextBlock } = world
    const wallet = createWallet(chain, client.agent)
    return tradeUnderFaults({
      client,
      wallet,
      random: random.stream(name),
      name,
      isOver: () => isOver,
      nextBlock,
      tally,
    })
  })
  const loops = { left: trading.length }
  for (const trader of trading) void trader.finally(() => (loops.left -= 1)).catch(() => undefined)
  for (let block = 1; loops.left > 0; block += 1) {
    if (block <= schedule.blocks) await applySchedule(schedule, block, providers)
    isOver = block > schedule.blocks
    await Promise.all([world.mine(), reads.readAll()])
  }
  await Promise.all(trading)
  await mineUntilAnswered(world)
  await world.untilFollowed(stores.ours)
  await world.untilFollowed(stores.twin)
  await reads.readAll()
  const { problems, told, refused } = await reads.judge(firstBlock)
  tally.counts.set('reads told', told)
  tally.counts.set('reads refused', refused)
  return { problems: [...tally.problems, ...problems, ...(await problemsOfTwins(world))], counts: tally.counts }
}

/** Mines until the oracle has answered every request. */
async function mineUntilAnswered({ chain, clients, mine }: TwinWorld): Promise<void> {
  for (;;) {
    const pending = await Promise.all(clients.map(({ trader }) => readPending(chain, trader.address)))
    await mine()
    if (pending.every(({ length }) => length === 0)) return
  }
}
