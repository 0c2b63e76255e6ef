import { createChainHead } from '../packages/server/src/journal/clock.ts'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type AccountLog, createAccountLog } from '../packages/server/src/journal/accountLog.ts'
import { createFollowing, type Following } from '../packages/server/src/follower/createFollowing.ts'
import { createRangeReader } from '../packages/server/src/follower/readBlocks.ts'
import { startDevnetWorld } from '../packages/server/src/follower/testing/devnetWorld.ts'
import { depthFinality } from '../packages/server/src/chain/finality.ts'
import type { ServedChain } from '../packages/server/src/chain/servedChain.ts'
import type { ChainMarkets } from '../packages/server/src/trading/market/chainMarkets.ts'
import { writeNotices } from '../packages/server/src/notices/writeNotices.ts'
import { openLivePositions } from '../packages/server/src/accounts/positions/livePositions.ts'
import { createLoggedPositions } from '../packages/server/src/accounts/positions/loggedPositions.ts'
import { createKnownTerms } from '../packages/server/src/accounts/positions/traderTerms.ts'
import { openStore } from '../packages/server/src/store/openStore.ts'
import type { Store } from '../packages/server/src/store/sql.ts'
import { record, type Recording } from './follow/record.ts'
import { emptyBlock, renumber } from './follow/renumber.ts'
import { startNode, type ServingNode } from './follow/startNode.ts'
import { createTimedClient, type TimedClient } from './follow/timedClient.ts'
import { median } from './measure/median.ts'

// Benchmarks the speed at which the follower processes blocks.
//
// The logs are real: recorded at the start from the local chain and its contracts (follow/record.ts). A stand-in node
// in another process (follow/node.ts) then serves them under the addresses of many traders, because the local chain
// would take minutes to produce as many.
// Near the head: time from the node's answer with a block to its committed state, one block after the other, median.
// Catching up: the follower over all logs, beside the same ranges only fetched and decoded by the same functions. The
// two alternate for a few rounds.

const LOGS_PER_BLOCK = 200

const TOTAL_LOGS = 20_000

const FINALITY_DEPTH = 64

const WARM_UP_BLOCKS = 10

const ROUNDS = 5

const BLOCK_LIMIT_MS = 20

const CATCH_UP_LIMIT = 0.6

interface Setup {
  readonly chain: ServedChain
  readonly markets: ChainMarkets
  readonly node: ServingNode
  readonly client: TimedClient
  /** Number of blocks with logs. `FINALITY_DEPTH` empty ones follow them, so that all of these are final. */
  readonly blockCount: number
  readonly logCount: number
}

/** Prints both tables. Returns true when both limits are met. */
export async function run(): Promise<boolean> {
  const { recording, chain, markets } = await recordOnDevnet()
  const blocks = renumber(recording, TOTAL_LOGS, LOGS_PER_BLOCK)
  const tail = Array.from({ length: FINALITY_DEPTH }, (_, at) => emptyBlock(blocks.length + 1 + at))
  const folder = mkdtempSync(join(tmpdir(), 'bezel-bench-node-'))
  const node = await startNode(folder, chain.chainId, [...blocks, ...tail])
  const logCount = blocks.reduce((count, block) => count + block.logCount, 0)
  const setup = { chain, markets, node, client: createTimedClient(node.url), blockCount: blocks.length, logCount }

  const blockMs = await followBlocks(setup)
  const rounds: CatchUp[] = []
  // Round 0 only warms up.
  for (let round = 0; round <= ROUNDS; round += 1) {
    const result = await catchUp(setup)
    if (round > 0) rounds.push(result)
  }
  node.stop()
  rmSync(folder, { recursive: true, force: true })
  return print(setup, blockMs, rounds)
}

async function recordOnDevnet(): Promise<{ recording: Recording; chain: ServedChain; markets: ChainMarkets }> {
  const world = await startDevnetWorld()
  const recording = await record(world)
  await world.close()
  return { recording, chain: world.served, markets: world.markets }
}

/** Runs `work` with a follower that starts at the first block with an empty store. */
async function withFollowing<Result>(
  { chain, client, markets }: Setup,
  work: (following: Following) => Promise<Result>,
): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), 'bezel-bench-'))
  const store = await openStore(folder)
  const following = createFollowing({
    onError: (error) => {
      throw error
    },

    head: createChainHead(),
    chain,
    client,
    store,
    accountLog: await openLog(store, chain, markets),
    finality: depthFinality(FINALITY_DEPTH),
    startBlock: 1,
    now: Date.now,
    timeoutBlocks: () => 1_000_000,
  })
  await following.open()
  const result = await work(following)
  await store.close()
  rmSync(folder, { recursive: true, force: true })
  return result
}

/** Opens the log as the service does. The feed is silent, so positions are valued at their entry price. */
async function openLog(store: Store, { slug }: ServedChain, markets: ChainMarkets): Promise<AccountLog> {
  const terms = createKnownTerms(Date.now)
  const live = await openLivePositions(store, slug, terms)
  return createAccountLog({
    chain: slug,
    store,
    positionsText: createLoggedPositions({
      live,
      terms,
      markets: () => markets,
      book: { get: () => undefined },
      head: () => undefined,
      onError: (error) => {
        throw error
      },
    }),
    now: Date.now,
    alsoKeep: writeNotices,
    onError: (error) => console.error(error),
    onCommit: ({ positions }) => live.apply(positions),
  })
}

/** Returns the time that each block took in ms, without the first few. */
async function followBlocks(setup: Setup): Promise<number[]> {
  const { node, client, markets, blockCount } = setup
  const times: number[] = []
  return withFollowing(setup, async (following) => {
    for (let number = 1; number <= blockCount; number += 1) {
      await node.setHead(number)
      await following.step(markets)
      const committedAt = performance.now()
      if (following.head()?.number !== number) throw new Error(`block ${number} was not followed`)
      if (number > WARM_UP_BLOCKS) times.push(committedAt - client.answeredAt())
    }
    return times
  })
}

/** Rates in logs per second. */
interface CatchUp {
  readonly ours: number
  readonly peer: number
}

async function catchUp(setup: Setup): Promise<CatchUp> {
  const { chain, node, client, markets, blockCount, logCount } = setup
  await node.setHead(blockCount + FINALITY_DEPTH)

  const peerStarted = performance.now()
  let read = 0
  for await (const blocks of createRangeReader(client, chain)(1, blockCount)) read += blocks.length
  const peerMs = performance.now() - peerStarted
  if (read !== blockCount) throw new Error('the node did not give all blocks')

  const oursMs = await withFollowing(setup, async (following) => {
    const started = performance.now()
    while ((following.head()?.number ?? 0) < blockCount) await following.step(markets)
    return performance.now() - started
  })
  return { ours: (logCount / oursMs) * 1_000, peer: (logCount / peerMs) * 1_000 }
}

function print({ blockCount, logCount }: Setup, blockMs: readonly number[], rounds: readonly CatchUp[]): boolean {
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
