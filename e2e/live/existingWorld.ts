import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { diamondAbi } from '@bezel/protocol'
import { createBezelClient, privateKeySender, type BezelClient } from '@bezel/sdk'
import { call } from '@bezel/testkit/agentClient.ts'
import { createChainClient, tradeOf, type ChainClient } from '@bezel/testkit/chainClient.ts'
import { startDevnet, type RunningDevnet } from '@bezel/testkit/startDevnet.ts'
import { launchService, type RunningService } from '@bezel/testkit/startService.ts'
import { authorize, createTradingClient, type TradingClient } from '@bezel/testkit/tradingClient.ts'
import { until } from '@bezel/testkit/until.ts'
import { parseUnits, zeroAddress, type Address, type ContractFunctionReturnType } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { startFaultyProxy, type FaultyProxy } from '../outages/faultyProxy.ts'
import { SOON } from '../sdk/sdkWorld.ts'

export const SLUG = 'arbitrum-sepolia'

export type ChainTrade = ContractFunctionReturnType<typeof diamondAbi, 'view', 'getTrades'>[number]
export type ChainRequest = ContractFunctionReturnType<typeof diamondAbi, 'view', 'getPendingOrders'>[number]

/** The terms of a trade that a trader asks the Diamond for itself. Default: 100 USDC in BTC, long with leverage 10. */
export interface OwnTrade {
  readonly collateral?: 'USDC' | 'DAI'
  readonly amount?: string
  readonly long?: boolean
  readonly leverage?: number
  /** 0: at the market, 1: limit, 2: stop. */
  readonly tradeType?: 0 | 1 | 2
  readonly price?: bigint
  readonly sl?: bigint
}

/** A local chain on which traders trade with their wallets, and the service that is started over it later. */
export interface ExistingWorld {
  readonly devnet: RunningDevnet
  readonly chain: ChainClient
  /** The proxy between the service and the chain's node. */
  readonly node: FaultyProxy
  readonly url: () => string
  address(trader: string): Address
  /** Sends `openTrade` from the trader's wallet; a market order then waits for the oracle. */
  ask(trader: string, terms?: OwnTrade): Promise<void>
  /** Opens a position, or rests an order, from the trader's wallet. Returns its index once it is there. */
  open(trader: string, terms?: OwnTrade): Promise<number>
  /** Reads what the Diamond has open for a trader: positions, resting orders and requests, by index. */
  openOf(trader: string): Promise<{
    readonly positions: readonly ChainTrade[]
    readonly resting: readonly ChainTrade[]
    readonly requests: readonly ChainRequest[]
  }>
  /** Starts the service, which has to take a snapshot. Resolves when it listens. */
  launch(): Promise<void>
  untilReady(): Promise<void>
  kill(): Promise<void>
  /** Registers an agent; the trader makes it its delegate with its wallet. */
  clientOf(trader: string, agent: string): Promise<TradingClient>
  /** Registers an agent with the SDK, as `clientOf` does without it. */
  sdkOf(trader: string, agent: string): Promise<BezelClient>
  stop(): Promise<void>
}

/** Settings that lift the rate limits, because tests poll. */
const SETTINGS = {
  BEZEL_IP_LIMIT: '1000000',
  BEZEL_AGENT_LIMIT: '1000000',
  BEZEL_AGENT_WRITE_LIMIT: '1000000',
  BEZEL_HEAD_POLL_MS: '100',
}

/** Every block since the snapshot can be undone, however long a test takes. */
const FINALITY = { blocks: 5_000 }

/** Maximum difference between the expected and the executed price, 1e3 per percent. */
const SLIPPAGE_P = 3_000

/** The traders of a local chain, who act with their wallets. */
type Wallets = Pick<ExistingWorld, 'address' | 'ask' | 'open' | 'openOf'>

function createWallets(chain: ChainClient): Wallets {
  const address = (trader: string): Address => chain.account(trader).address

  const openOf: Wallets['openOf'] = async (trader) => {
    const request = { address: chain.diamond, abi: diamondAbi, args: [address(trader)] } as const
    const trades = await chain.client.readContract({ ...request, functionName: 'getTrades' })
    const requests = await chain.client.readContract({ ...request, functionName: 'getPendingOrders' })
    return {
      positions: trades.filter(({ isOpen, tradeType }) => isOpen && tradeType === 0),
      resting: trades.filter(({ isOpen, tradeType }) => isOpen && tradeType !== 0),
      requests: requests.filter(({ isOpen }) => isOpen),
    }
  }

  async function ask(trader: string, terms: OwnTrade = {}): Promise<void> {
    const { collateral = 'USDC', amount = '100', price = 60_000n, ...rest } = terms
    const { index: collateralIndex, decimals } = chain.collateral(collateral)
    const trade = tradeOf(chain, address(trader), { price, ...rest, collateral: parseUnits(amount, decimals) })
    await chain.send(chain.account(trader), 'openTrade', [{ ...trade, collateralIndex }, SLIPPAGE_P, zeroAddress])
  }

  async function indices(trader: string): Promise<number[]> {
    const { positions, resting } = await openOf(trader)
    return [...positions, ...resting].map(({ index }) => index)
  }

  return {
    address,
    ask,
    openOf,
    async open(trader, terms) {
      const known = new Set(await indices(trader))
      await ask(trader, terms)
      const opened = await until(`${trader} has it`, async () => {
        const index = (await indices(trader)).find((one) => !known.has(one))
        return index === undefined ? undefined : { index }
      })
      return opened.index
    },
  }
}

export async function startExistingWorld(
  of: { readonly devnet?: Record<string, string>; readonly service?: Record<string, string> } = {},
): Promise<ExistingWorld> {
  const devnet = await startDevnet({ DEVNET_BLOCK_MS: '100', DEVNET_ORACLE_DELAY_MS: '50', ...of.devnet })
  const chain = createChainClient(devnet.file)
  const described = devnet.file.chains[SLUG]!
  const node = await startFaultyProxy(described.rpcUrl.replace(/\/$/, ''))
  const chainsFile = join(devnet.folder, 'existing.json')
  // Without `startBlock`, which the local chain's own file has.
  const through = {
    rpcUrl: node.url,
    wsUrl: node.url.replace(/^http/, 'ws'),
    finality: FINALITY,
    startBlock: undefined,
  }
  const chains = { [SLUG]: { ...described, ...through } }
  writeFileSync(chainsFile, JSON.stringify({ chains, feedUrl: devnet.file.feedUrl }))
  await chain.control('bezel_freezePrice', 'BTC/USD', true)
  await chain.control('bezel_setPrice', 'BTC/USD', '60000')
  let service: RunningService | undefined
  const url = (): string => service!.url

  return {
    ...createWallets(chain),
    devnet,
    chain,
    node,
    url,
    async launch() {
      service = await launchService(devnet, { ...SETTINGS, BEZEL_CHAINS_FILE: chainsFile, ...of.service })
    },
    async untilReady() {
      await until('the service is ready', async (saw) => {
        const { status, body } = await call(url(), '/ready')
        saw(body)
        return status === 200
      })
    },
    kill: async () => service?.kill(),
    async clientOf(trader, agent) {
      const [owner, own] = [chain.account(trader), chain.account(agent)]
      await authorize({ chain, url }, owner, own)
      return createTradingClient({ devnet, chain, url }, owner, own)
    },
    async sdkOf(trader, agent) {
      const [owner, own] = [chain.account(trader), chain.account(agent)]
      const senderOf = (account: PrivateKeyAccount) => privateKeySender({ account, rpcUrl: described.rpcUrl })
      const client = createBezelClient({
        baseUrl: url(),
        chain: SLUG,
        agent: own,
        sender: senderOf(own),
        trader: owner.address,
        diamond: chain.diamond,
      })
      await client.agents.authorize({ trader: owner })
      await client.agents.delegate({ sender: senderOf(owner), ...SOON })
      return client
    },
    async stop() {
      await service?.stop()
      await node.close()
      await devnet.stop()
    },
  }
}
