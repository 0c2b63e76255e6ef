import { join } from 'node:path'
import { createChainClient, type ChainClient } from '@bezel/testkit/chainClient.ts'
import { writeProviderChains } from '@bezel/testkit/live/providerChains.ts'
import { startStandInProvider, type StandInProvider } from '@bezel/testkit/live/standInProvider.ts'
import { startDevnet, type RunningDevnet } from '@bezel/testkit/startDevnet.ts'
import { startService, type RunningService } from '@bezel/testkit/startService.ts'
import { authorize, createTradingClient, type TradingClient } from '@bezel/testkit/tradingClient.ts'
import { until } from '@bezel/testkit/until.ts'
import { openExistingStore } from '../../../packages/server/src/store/openStore.ts'
import type { Store } from '../../../packages/server/src/store/sql.ts'

/** The chain of the story. */
export const SLUG = 'arbitrum-sepolia'

/** A service behind two providers, and its twin on the same chain that no fault ever reaches. */
export interface TwinWorld {
  readonly devnet: RunningDevnet
  readonly chain: ChainClient
  readonly providers: readonly [StandInProvider, StandInProvider]
  readonly clients: readonly TradingClient[]
  readonly stores: { readonly ours: Store; readonly twin: Store }
  /** Mines a block. Resolves with its number when the twin has followed it, and wakes those who wait for it. */
  mine(): Promise<number>
  /** Mines until some work is done, and returns its result. */
  whileMining<Result>(work: Promise<Result>): Promise<Result>
  /** Waits for the block after the newest. */
  nextBlock(): Promise<void>
  /** Waits until a service has followed the newest block. */
  untilFollowed(store: Store): Promise<void>
  stop(): Promise<void>
}

/** Traders, each with its agent. */
const TRADERS = [
  ['trader-1', 'agent-1'],
  ['trader-2', 'agent-2'],
  ['trader-3', 'trader-3'],
] as const

/** Blocks come only when the story mines them, so that a schedule counts them and not the time. */
const CHAIN_SETTINGS = { DEVNET_BLOCK_MS: '3600000', DEVNET_ORACLE_DELAY_MS: '0' }

const SETTINGS = {
  BEZEL_HEAD_POLL_MS: '50',
  BEZEL_IP_LIMIT: '1000000',
  BEZEL_AGENT_LIMIT: '1000000',
  BEZEL_AGENT_WRITE_LIMIT: '1000000',
  BEZEL_MAX_PREPARED_ORDERS: '1000',
  // The faults are deliberate, and every one of them is logged.
  LOG_LEVEL: process.env['LOG_LEVEL'] ?? 'silent',
}

/** Starts the world. Blocks are undone as far back as a schedule can reach. */
export async function startTwinWorld(): Promise<TwinWorld> {
  const devnet = await startDevnet(CHAIN_SETTINGS)
  const chain = createChainClient(devnet.file)
  const target = devnet.file.chains[SLUG]!.rpcUrl.replace(/\/$/, '')
  const providers = [await startStandInProvider({ target }), await startStandInProvider({ target })] as const
  const chainsFile = writeProviderChains(devnet, providers, { name: 'faulty.json' })
  const folders = { ours: join(devnet.folder, 'ours'), twin: join(devnet.folder, 'twin') }
  await chain.control('bezel_freezePrice', 'BTC/USD', true)
  await chain.control('bezel_setPrice', 'BTC/USD', '60000')
  const [service, twin] = await Promise.all([
    startService(devnet, { ...SETTINGS, BEZEL_DATA: folders.ours, BEZEL_CHAINS_FILE: chainsFile }),
    startService(devnet, {
      ...SETTINGS,
      BEZEL_DATA: folders.twin,
      BEZEL_CHAINS_FILE: join(devnet.folder, 'devnet.json'),
    }),
  ])
  const stores = { ours: await openExistingStore(folders.ours), twin: await openExistingStore(folders.twin) }
  const blocks = createBlocks(chain, stores.twin)
  const clients = await blocks.whileMining(registerAll(devnet, chain, service))
  return {
    devnet,
    chain,
    providers,
    clients,
    stores,
    ...blocks,
    async stop() {
      await Promise.all([stores.ours.close(), stores.twin.close()])
      await Promise.all([service.stop(), twin.stop()])
      await Promise.all(providers.map((provider) => provider.close()))
      await devnet.stop()
    },
  }
}

type Blocks = Pick<TwinWorld, 'mine' | 'whileMining' | 'nextBlock' | 'untilFollowed'>

function createBlocks(chain: ChainClient, twin: Store): Blocks {
  let next = Promise.withResolvers<void>()

  async function untilFollowed({ read }: Store): Promise<void> {
    await until('the newest block is followed', async (saw) => {
      const { number, hash } = await chain.client.getBlock()
      const cursor = await read.get<{ hash: string; number: bigint }>(
        'select number, hash from blocks where chain = $1 order by number desc limit 1',
        SLUG,
      )
      saw({ number, cursor })
      return cursor?.hash === hash
    })
  }

  async function mine(): Promise<number> {
    await chain.control('evm_mine')
    await untilFollowed(twin)
    next.resolve()
    next = Promise.withResolvers()
    return Number(await chain.client.getBlockNumber({ cacheTime: 0 }))
  }

  return {
    mine,
    nextBlock: () => next.promise,
    untilFollowed,
    async whileMining(work) {
      const waiting = { isDone: false }
      const done = work.finally(() => (waiting.isDone = true))
      while (!waiting.isDone) await mine()
      return done
    },
  }
}

function registerAll(devnet: RunningDevnet, chain: ChainClient, { url }: RunningService): Promise<TradingClient[]> {
  const of = { devnet, chain, url: () => url }
  return Promise.all(
    TRADERS.map(async ([traderName, agentName]) => {
      const [trader, agent] = [chain.account(traderName), chain.account(agentName)]
      await authorize(of, trader, agent)
      const client = await createTradingClient(of, trader, agent)
      await until(`the delegate of ${traderName} is known`, async (saw) => {
        const { status, body } = await client.account('/positions', 'listPositions')
        saw(body)
        return status === 200
      })
      return client
    }),
  )
}
