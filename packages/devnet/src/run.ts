import { httpUrl, StartupError, type ChainSlug, type RunningProgram } from '@bezel/protocol'
import type { LocalChain } from './chain/createLocalChain.ts'
import type { DevnetConfig } from './config.ts'
import { chainControls, feedControls, priceControls } from './controls/controls.ts'
import { claimDataFolder, writeDevnetFile } from './dataFolder.ts'
import { createFeedFaults } from './feed/feedFaults.ts'
import { createPrices } from './feed/prices.ts'
import { livePairs } from './listing/liveListing.ts'
import { PAIRS } from './listing/pairs.ts'
import { createFeedServer } from './feed/server.ts'
import { createRpcServer, type RpcServer } from './rpc/createRpcServer.ts'
import { createChain, runChain, type RunningChain } from './runChain.ts'

const FEED_PREFIX = '/feed'

/**
 * Runs the whole local chain: chains, oracle, keeper, feed, controls. Resolves when all of it answers; a failed start
 * leaves nothing behind.
 */
export async function runDevnet(config: DevnetConfig): Promise<RunningProgram> {
  const { host, dataFolder } = config
  const chains = new Map<ChainSlug, LocalChain>()
  for (const slug of config.chains) chains.set(slug, await createChain(slug, config))
  const prices = createPrices({
    seed: config.seed,
    now: Date.now,
    pairs: config.listing === 'live' ? livePairs() : PAIRS,
  })
  const running = new Map<LocalChain, RunningChain>()
  const faults = createFeedFaults(prices.pairs)
  const feed = createFeedServer(prices, { faults })
  const methods = {
    ...priceControls(prices),
    ...feedControls(faults),
    ...chainControls((chain) => runningOf(running, chain)),
  }
  const server = createRpcServer({ chains, methods })
  server.mount(FEED_PREFIX, {
    onRequest: (request, response) => feed.onRequest(request, response, belowFeed(request.url)),
    onUpgrade: (request, socket, head) => feed.onUpgrade(request, socket, head, belowFeed(request.url)),
  })

  // The port is opened first, because it is what fails, and the data folder must not be wiped for a start that comes to
  // nothing.
  const port = await listen(server, config)
  const claim = await orClose(server, () => claimDataFolder(dataFolder, console.error))
  const rpcUrl = httpUrl(host, port)
  prices.start()
  const started = await Promise.all([...chains].map(([slug, chain]) => runChain(chain, slug, prices, config)))
  for (const chain of started) running.set(chain.chain, chain)
  writeDevnetFile(dataFolder, [...running.values()], {
    rpc: rpcUrl,
    base: httpUrl(host, config.servicePort),
  })

  async function close(): Promise<void> {
    prices.stop()
    feed.close()
    await Promise.all([...running.values()].map((chain) => chain.stop()))
    await server.close()
    claim.release()
  }
  return { url: rpcUrl, close }
}

function runningOf(running: ReadonlyMap<LocalChain, RunningChain>, chain: LocalChain): RunningChain {
  const found = running.get(chain)
  if (found === undefined) throw new Error(`${chain.slug} is still being set up: try again in a moment`)
  return found
}

function belowFeed(url = ''): string {
  return url.slice(FEED_PREFIX.length) || '/'
}

async function listen(server: RpcServer, { host, port }: DevnetConfig): Promise<number> {
  try {
    return await server.listen(port, host)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    const why = code === 'EADDRINUSE' ? 'is in use' : `can't be opened on ${host} (${code})`
    throw new StartupError(`Port ${port} ${why}: stop what uses it or set DEVNET_PORT to another port.`)
  }
}

async function orClose<Result>(server: RpcServer, step: () => Result): Promise<Result> {
  try {
    return step()
  } catch (error) {
    await server.close()
    throw error
  }
}
