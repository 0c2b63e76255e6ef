import type { AgentScope, MarketPrice } from '@bezel/protocol'
import { parseUnits } from 'viem'
import { call } from './agentClient.ts'
import { createChainClient, type ChainClient } from './chainClient.ts'
import { startDevnet, type RunningDevnet } from './startDevnet.ts'
import { startService, type RunningService } from './startService.ts'
import { authorize, createTradingClient, type TradingClient } from './tradingClient.ts'
import { until } from './until.ts'

/** A local chain, the service over it, and a price that is constant until a test moves it. */
export interface TradingWorld {
  readonly devnet: RunningDevnet
  readonly chain: ChainClient
  readonly url: () => string
  /**
   * Returns a client for an authorised and delegated agent of a trader of the local chain; for the trader itself when
   * both names are the same.
   */
  clientOf(trader: string, agent: string, scope?: AgentScope): Promise<TradingClient>
  /** Sets a price of the local chain. The service learns of it a little later. */
  setPrice(usd: number, symbol?: string): Promise<void>
  /** Sets a price, and waits until the service shows it. */
  moveTo(usd: number, symbol?: string): Promise<void>
  /** Kills the service, as a crash does, and starts it again over the same data. */
  crash(): Promise<void>
  /** Stops the service as an operator does. */
  stopService(): Promise<void>
  startService(): Promise<void>
  stop(): Promise<void>
}

export interface TradingWorldOptions {
  readonly devnet?: Record<string, string>
  readonly service?: Record<string, string>
}

const FAST_CHAIN = { DEVNET_BLOCK_MS: '100', DEVNET_ORACLE_DELAY_MS: '150' }
/** Settings that lift the rate limits, because tests poll and many agents share one IP address. */
const NO_LIMITS = {
  BEZEL_IP_LIMIT: '1000000',
  BEZEL_AGENT_LIMIT: '1000000',
  BEZEL_AGENT_WRITE_LIMIT: '1000000',
}

export async function startTradingWorld(options: TradingWorldOptions = {}): Promise<TradingWorld> {
  const devnet = await startDevnet({ ...FAST_CHAIN, ...options.devnet })
  const chain = createChainClient(devnet.file)
  const start = (): Promise<RunningService> => startService(devnet, { ...NO_LIMITS, ...options.service })
  let service = await start()
  const url = (): string => service.url
  const setPrice = async (usd: number, symbol = 'BTC/USD'): Promise<void> => {
    await chain.control('bezel_setPrice', symbol, String(usd))
  }
  const moveTo = (usd: number, symbol = 'BTC/USD'): Promise<void> => movePrice({ chain, url }, symbol, String(usd))
  await chain.control('bezel_freezePrice', 'BTC/USD', true)
  await moveTo(60_000)
  return {
    devnet,
    chain,
    url,
    setPrice,
    moveTo,
    async clientOf(traderName, agentName, scope) {
      const trader = chain.account(traderName)
      const agent = chain.account(agentName)
      await authorize({ chain, url }, trader, agent, scope)
      return createTradingClient({ devnet, chain, url }, trader, agent)
    },
    async crash() {
      await service.kill()
      service = await start()
    },
    stopService: () => service.stop(),
    async startService() {
      service = await start()
    },
    async stop() {
      await service.stop()
      await devnet.stop()
    },
  }
}

/** Sets a price of the local chain, which stands still from then on, and waits until the service shows it. */
export async function movePrice(
  of: { readonly chain: ChainClient; readonly url: () => string },
  symbol: string,
  price: string,
): Promise<void> {
  // A price that walks on may have gone when a slow machine looks at it.
  await of.chain.control('bezel_freezePrice', symbol, true)
  await of.chain.control('bezel_setPrice', symbol, price)
  await until(`${symbol} is at ${price}`, async (saw) => {
    const { status, body } = await call(of.url(), '/v1/arbitrum-sepolia/prices')
    // On a busy machine the feed may be silent for a moment.
    if (status === 503) return saw(body)
    const found = (body.data as MarketPrice[]).find(({ market }) => market === symbol)
    saw(found)
    return found !== undefined && parseUnits(found.mark, 10) === parseUnits(price, 10)
  })
}
