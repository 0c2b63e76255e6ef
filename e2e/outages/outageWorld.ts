import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createChainClient, type ChainClient } from '@bezel/testkit/chainClient.ts'
import { startDevnet, type RunningDevnet } from '@bezel/testkit/startDevnet.ts'
import { startService, type RunningService } from '@bezel/testkit/startService.ts'
import { authorize, createTradingClient, type TradingClient } from '@bezel/testkit/tradingClient.ts'
import { movePrice } from '@bezel/testkit/tradingWorld.ts'
import { startFaultyProxy, type FaultyProxy } from './faultyProxy.ts'

const CHAIN = 'arbitrum-sepolia'

/** The real service over the real local chain, with faulty proxies between them. The chain itself stays reachable. */
export interface OutageWorld {
  readonly devnet: RunningDevnet
  readonly chain: ChainClient
  readonly service: RunningService
  readonly node: FaultyProxy
  readonly feed: FaultyProxy
  clientOf(trader: string, agent: string): Promise<TradingClient>
  stop(): Promise<void>
}

/** The settings: short intervals, so that tests wait little; no limits, because stories poll. */
const SETTINGS = {
  BEZEL_MARKETS_REFRESH_MS: '200',
  BEZEL_MARKET_STATUS_MS: '100',
  BEZEL_HEAD_POLL_MS: '100',
  BEZEL_IP_LIMIT: '1000000',
  BEZEL_AGENT_LIMIT: '1000000',
  BEZEL_AGENT_WRITE_LIMIT: '1000000',
  BEZEL_MAX_PREPARED_ORDERS: '1000',
  // Deliberate refusals would fill the output.
  LOG_LEVEL: 'silent',
}

/** Starts the world. `entry` is added to what the chains file says about the chain, `local` to the chain's settings. */
export async function startOutageWorld(
  settings: Record<string, string> = {},
  { entry, local }: { readonly entry?: object; readonly local?: Record<string, string> } = {},
): Promise<OutageWorld> {
  const devnet = await startDevnet({ DEVNET_BLOCK_MS: '100', DEVNET_ORACLE_DELAY_MS: '150', ...local })
  const chain = createChainClient(devnet.file)
  const described = devnet.file.chains[CHAIN]!
  const node = await startFaultyProxy(described.rpcUrl.replace(/\/$/, ''))
  const feed = await startFaultyProxy(devnet.file.feedUrl.replace(/\/$/, ''))
  const chainsFile = join(devnet.folder, 'outages.json')
  const through = { ...described, rpcUrl: node.url, wsUrl: node.url.replace(/^http/, 'ws'), ...entry }
  writeFileSync(chainsFile, JSON.stringify({ chains: { [CHAIN]: through }, feedUrl: feed.url }))
  const service = await startService(devnet, { ...SETTINGS, BEZEL_CHAINS_FILE: chainsFile, ...settings })
  await chain.control('bezel_freezePrice', 'BTC/USD', true)
  const url = (): string => service.url
  await movePrice({ chain, url }, 'BTC/USD', '60000')
  return {
    devnet,
    chain,
    service,
    node,
    feed,
    async clientOf(traderName, agentName) {
      const trader = chain.account(traderName)
      const agent = chain.account(agentName)
      await authorize({ chain, url }, trader, agent)
      return createTradingClient({ devnet, chain, url }, trader, agent)
    },
    async stop() {
      await service.stop()
      await Promise.all([node.close(), feed.close()])
      await devnet.stop()
    },
  }
}
