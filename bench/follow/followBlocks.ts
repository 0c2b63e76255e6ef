import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { depthFinality } from '../../packages/server/src/chain/finality.ts'
import type { ServedChain } from '../../packages/server/src/chain/servedChain.ts'
import { createFollowing, type Following } from '../../packages/server/src/follower/createFollowing.ts'
import { startDevnetWorld } from '../../packages/server/src/follower/testing/devnetWorld.ts'
import { openLivePositions } from '../../packages/server/src/accounts/positions/livePositions.ts'
import { createLoggedPositions } from '../../packages/server/src/accounts/positions/loggedPositions.ts'
import { createKnownTerms } from '../../packages/server/src/accounts/positions/traderTerms.ts'
import { type AccountLog, createAccountLog } from '../../packages/server/src/journal/accountLog.ts'
import { createCommits } from '../../packages/server/src/journal/commits.ts'
import { createChainHead } from '../../packages/server/src/journal/clock.ts'
import { writeNotices } from '../../packages/server/src/notices/writeNotices.ts'
import type { Store } from '../../packages/server/src/store/sql.ts'
import type { ChainMarkets } from '../../packages/server/src/trading/market/chainMarkets.ts'
import { record, type Recording } from './record.ts'
import { emptyBlock, renumber } from './renumber.ts'
import { startNode, type ServingNode } from './startNode.ts'
import { createTimedClient, type TimedClient } from './timedClient.ts'

/** Logs of each block that is followed. */
export const LOGS_PER_BLOCK = 200

/** Number of empty blocks after those with logs, so that all of these are final. */
export const FINALITY_DEPTH = 64

const WARM_UP_BLOCKS = 10

/** A stand-in node that serves recorded logs, and what a follower of it needs. */
export interface RecordedChain {
  readonly chain: ServedChain
  readonly markets: ChainMarkets
  readonly node: ServingNode
  readonly client: TimedClient
  /** Number of blocks with logs. `FINALITY_DEPTH` empty ones follow them. */
  readonly blockCount: number
  readonly logCount: number
  stop(): void
}

/** Records logs from the local chain and its contracts, and serves about `totalLogs` of them from another process. */
export async function serveRecording(totalLogs: number): Promise<RecordedChain> {
  const { recording, chain, markets } = await recordOnDevnet()
  const blocks = renumber(recording, totalLogs, LOGS_PER_BLOCK)
  const tail = Array.from({ length: FINALITY_DEPTH }, (_, at) => emptyBlock(blocks.length + 1 + at))
  const folder = mkdtempSync(join(tmpdir(), 'bezel-bench-node-'))
  const node = await startNode(folder, chain.chainId, [...blocks, ...tail])
  const logCount = blocks.reduce((count, block) => count + block.logCount, 0)
  return {
    chain,
    markets,
    node,
    client: createTimedClient(node.url),
    blockCount: blocks.length,
    logCount,
    stop() {
      node.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function recordOnDevnet(): Promise<{ recording: Recording; chain: ServedChain; markets: ChainMarkets }> {
  const world = await startDevnetWorld()
  const recording = await record(world)
  await world.close()
  return { recording, chain: world.served, markets: world.markets }
}

/** Returns a follower that starts at the first block, over an empty store. */
export async function openFollowing({ chain, client, markets }: RecordedChain, store: Store): Promise<Following> {
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
  return following
}

/** Opens the log as the service does. The feed is silent, so positions are valued at their entry price. */
async function openLog(store: Store, { slug }: ServedChain, markets: ChainMarkets): Promise<AccountLog> {
  const terms = createKnownTerms(Date.now)
  const live = await openLivePositions(store, slug, terms)
  const commits = createCommits(store).of(slug)
  commits.follow({ apply: ({ changes }) => live.apply(changes?.positions ?? []), reload: async () => {} })
  return createAccountLog({
    chain: slug,
    store,
    commits,
    positionsText: createLoggedPositions({
      live,
      terms,
      markets: () => markets,
      book: { last: () => undefined },
      head: () => undefined,
      onError: (error) => {
        throw error
      },
    }),
    now: Date.now,
    alsoKeep: writeNotices,
    onError: (error) => console.error(error),
  })
}

/**
 * Follows the blocks one after the other. Returns the time from the node's answer with a block to its commit in ms, for
 * each but the first few.
 */
export async function timeBlocks(recorded: RecordedChain, following: Following): Promise<number[]> {
  const { node, client, markets, blockCount } = recorded
  const times: number[] = []
  for (let number = 1; number <= blockCount; number += 1) {
    await node.setHead(number)
    while (await following.step(markets));
    const committedAt = performance.now()
    if (following.head()?.number !== number) throw new Error(`block ${number} was not followed`)
    if (number > WARM_UP_BLOCKS) times.push(committedAt - client.answeredAt())
  }
  return times
}
