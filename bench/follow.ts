import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Following } from '../packages/server/src/follower/createFollowing.ts'
import { createRangeReader } from '../packages/server/src/follower/readBlocks.ts'
import { openStore } from '../packages/server/src/store/openStore.ts'
import {
  FINALITY_DEPTH,
  LOGS_PER_BLOCK,
  openFollowing,
  serveRecording,
  timeBlocks,
  type RecordedChain,
} from './follow/followBlocks.ts'
import { median } from './measure/median.ts'

// Benchmarks the speed at which the follower processes blocks.
//
// The logs are real: recorded at the start from the local chain and its contracts (follow/record.ts). A stand-in node
// in another process (follow/node.ts) then serves them under the addresses of many traders, because the local chain
// would take minutes to produce as many.
// Near the head: time from the node's answer with a block to its committed state, one block after the other, median.
// Catching up: the follower over all logs, beside the same ranges only fetched and decoded by the same functions. The
// two alternate for a few rounds.

const TOTAL_LOGS = 20_000

const ROUNDS = 5

const BLOCK_LIMIT_MS = 20

const CATCH_UP_LIMIT = 0.6

/** Prints both tables. Returns true when both limits are met. */
export async function run(): Promise<boolean> {
  const recorded = await serveRecording(TOTAL_LOGS)
  const blockMs = await withFollowing(recorded, (following) => timeBlocks(recorded, following))
  const rounds: CatchUp[] = []
  // Round 0 only warms up.
  for (let round = 0; round <= ROUNDS; round += 1) {
    const result = await catchUp(recorded)
    if (round > 0) rounds.push(result)
  }
  recorded.stop()
  return print(recorded, blockMs, rounds)
}

/** Runs `work` with a follower that starts at the first block with an empty store. */
async function withFollowing<Result>(
  recorded: RecordedChain,
  work: (following: Following) => Promise<Result>,
): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), 'bezel-bench-'))
  const store = await openStore(folder)
  const result = await work(await openFollowing(recorded, store))
  await store.close()
  rmSync(folder, { recursive: true, force: true })
  return result
}

/** Rates in logs per second. */
interface CatchUp {
  readonly ours: number
  readonly peer: number
}

async function catchUp(recorded: RecordedChain): Promise<CatchUp> {
  const { chain, node, client, markets, blockCount, logCount } = recorded
  await node.setHead(blockCount + FINALITY_DEPTH)

  const peerStarted = performance.now()
  let read = 0
  for await (const blocks of createRangeReader(client, chain)(1, blockCount)) read += blocks.length
  const peerMs = performance.now() - peerStarted
  if (read !== blockCount) throw new Error('the node did not give all blocks')

  const oursMs = await withFollowing(recorded, async (following) => {
    const started = performance.now()
    while ((following.head()?.number ?? 0) < blockCount) await following.step(markets)
    return performance.now() - started
  })
  return { ours: (logCount / oursMs) * 1_000, peer: (logCount / peerMs) * 1_000 }
}

function print(
  { blockCount, logCount }: RecordedChain,
  blockMs: readonly number[],
  rounds: readonly CatchUp[],
): boolean {
  const ms = median(blockMs)
  const [ours, peer] = [median(rounds.map((round) => round.ours)), median(rounds.map((round) => round.peer))]
  const ratio = median(rounds.map((round) => round.ours / round.peer))
  console.log(`Following ${logCount} logs in ${blockCount} blocks, recorded from the contracts`)
  console.table({
    [`block of ${LOGS_PER_BLOCK} logs, answer to commit, ms`]: {
      median: ms.toFixed(1),
      limit: BLOCK_LIMIT_MS,
      met: ms <= BLOCK_LIMIT_MS,
    },
  })
  console.table({
    'catching up, logs/s': {
      ours: Math.round(ours),
      'fetch and decode': Math.round(peer),
      ratio: ratio.toFixed(2),
      limit: CATCH_UP_LIMIT,
      met: ratio >= CATCH_UP_LIMIT,
    },
  })
  return ms <= BLOCK_LIMIT_MS && ratio >= CATCH_UP_LIMIT
}
