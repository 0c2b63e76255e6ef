import { createChainHead } from '../../journal/clock.ts'
import { Price, type Address } from '@bezel/protocol'
import { setTimeout as sleep } from 'node:timers/promises'
import { numberToHex } from 'viem'
import { createChainClient, type ChainClient } from '@bezel/testkit/chainClient.ts'
import { testChain } from '@bezel/testkit/servedChain.ts'
import { startDevnet, type RunningDevnet } from '@bezel/testkit/startDevnet.ts'
import type { Changes } from '../../journal/accountLog.ts'
import { openTestLog } from '../../journal/testing/testLog.ts'
import type { ChainMarkets } from '../../trading/market/chainMarkets.ts'
import { assembleMarkets } from '../../market/listing/assembleMarkets.ts'
import { readListing } from '../../market/listing/readListing.ts'
import { readMoment, readState } from '../../market/listing/readState.ts'
import { migrate } from '../../store/openStore.ts'
import { openTestStore, type TestStore } from '../../store/testing/testStore.ts'
import { createRpcClient } from '../../chain/providers/provider.ts'
import type { RpcClient } from '../../chain/rpcClient.ts'
import { depthFinality } from '../../chain/finality.ts'
import type { ServedChain } from '../../chain/servedChain.ts'
import { startFollower, type Follower, type FollowerOptions } from '../startFollower.ts'

/** A local chain with a constant price, and any number of followers. */
export interface DevnetWorld {
  readonly devnet: RunningDevnet
  readonly chain: ChainClient
  readonly served: ServedChain
  readonly client: RpcClient
  readonly markets: ChainMarkets
  follow(options?: Partial<FollowerOptions>, store?: TestStore): Promise<FollowedStore>
  setPrice(usd: number): Promise<void>
  /** Mines blocks from the start on; no blocks come while it is paused. */
  readonly mining: Mining
  close(): Promise<void>
}

interface Mining {
  /** Stops mining. Resolves when no block is being mined any more. */
  pause(): Promise<void>
  resume(): void
}

/** A follower and the store it writes to. */
export interface FollowedStore {
  readonly follower: Follower
  readonly opened: TestStore
  readonly commits: Changes[]
  /** Resolves when the follower's head is the node's current head. */
  caughtUp(): Promise<void>
  stop(): Promise<void>
}

/** Ends a test that hangs; long enough for a machine ten times slower. */
const WAIT_MS = 240_000
/** Pause between two looks at the follower, and between two questions to the node for its head, which cost more. */
const LOOK_MS = 5
const ASK_MS = 100

const BLOCK_MS = 25

/** Prints warnings and errors to the output of the test. */
const LOG = { info: () => undefined, warn: console.error, error: console.error }

export async function startDevnetWorld(settings: Record<string, string> = {}): Promise<DevnetWorld> {
  const devnet = await startDevnet({ DEVNET_BLOCK_MS: '60000', DEVNET_ORACLE_DELAY_MS: '100', ...settings })
  const chain = createChainClient(devnet.file)
  const { chainId, rpcUrl, wsUrl, diamond } = devnet.file.chains['arbitrum-sepolia']!
  const served = testChain('arbitrum-sepolia', { chainId, rpcUrl, wsUrl, diamond: diamond as Address })
  const client = createRpcClient({ url: rpcUrl, timeoutMs: 5_000 })
  const setPrice = async (usd: number): Promise<void> => {
    await chain.control('bezel_setPrice', 'BTC/USD', String(usd))
  }
  const mining = startMining(chain)
  await chain.control('bezel_freezePrice', 'BTC/USD', true)
  await setPrice(60_000)
  const markets = await readMarkets(client, served.diamond)

  async function follow(options: Partial<FollowerOptions> = {}, opened = openTestStore()): Promise<FollowedStore> {
    await migrate(opened.store)
    const commits: Changes[] = []
    const follower = startFollower({
      head: createChainHead(),
      chain: served,
      client,
      store: opened.store,
      accountLog: openTestLog(opened.store, served.slug, (changes) => commits.push(changes)),
      markets: () => markets,
      finality: depthFinality(64),
      startBlock: 0,
      pollMs: 20,
      now: Date.now,
      log: LOG as never,
      ...options,
    })
    return {
      follower,
      opened,
      commits,
      caughtUp: () => caughtUp(follower, chain),
      async stop() {
        await follower.close()
        await opened.remove()
      },
    }
  }

  async function close(): Promise<void> {
    await mining.pause()
    await devnet.stop()
  }

  return { devnet, chain, served, client, markets, follow, setPrice, mining, close }
}

/** Mines a block every 25 ms by request. The local chain's own timer can't be stopped, so it is set to a minute. */
function startMining(chain: ChainClient): Mining {
  let running = new AbortController()
  let round = mine(running.signal)

  async function mine(signal: AbortSignal): Promise<void> {
    for (; !signal.aborted; await sleep(BLOCK_MS)) await chain.control('evm_mine')
  }

  return {
    async pause() {
      running.abort()
      await round
    },
    resume() {
      running = new AbortController()
      round = mine(running.signal)
    },
  }
}

/** Waits until the follower's head has the hash of the node's head; a reorganisation may leave the number unchanged. */
async function caughtUp(follower: Follower, { client }: ChainClient): Promise<void> {
  for (const deadlineMs = Date.now() + WAIT_MS; Date.now() < deadlineMs;) {
    const { hash } = await client.getBlock()
    for (const askMs = Date.now() + ASK_MS; Date.now() < askMs; await sleep(LOOK_MS)) {
      if (follower.head()?.hash === hash) return
    }
  }
  throw new Error(`the follower did not reach the head: it is at ${follower.head()?.number}, ${follower.reason()}`)
}

async function readMarkets(client: RpcClient, diamond: Address): Promise<ChainMarkets> {
  const moment = await readMoment(client)
  const at = { client, diamond, block: numberToHex(moment.blockNumber) }
  const listing = await readListing(at)
  const references = new Map(listing.pairs.map(({ pairIndex }) => [pairIndex, Price.of(100n * Price.one)]))
  return assembleMarkets(listing, await readState(at, listing, moment), references, moment)
}
