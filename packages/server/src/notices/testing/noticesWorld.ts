import { NodeUnavailableError } from '../../ground/unavailable.ts'
import { requestDomain, type Address, type AgentScope, type ChainSlug } from '@bezel/protocol'
import { pad, type Hex } from 'viem'
import type { AgentRecord } from '../../trading/agentRecord.ts'
import type { ChainAgents } from '../../agents/chainAgents.ts'
import { createDelegates } from '../../agents/delegates.ts'
import { openRegistry, type Registry } from '../../agents/registry.ts'
import type { RpcClient } from '../../chain/rpcClient.ts'
import type { ServedChain } from '../../chain/servedChain.ts'
import { chainMarkets } from '../../market/testing/fixtures.ts'
import { migrate } from '../../store/openStore.ts'
import { openTestStore, type TestStore } from '../../store/testing/testStore.ts'
import { testChain } from '@bezel/testkit/servedChain.ts'
import type { NoticesOptions } from '../startNotices.ts'

export const NOBODY = `0x${'0'.repeat(40)}` as Address

const SCOPE: AgentScope = {
  markets: 'all',
  maxLeverage: null,
  dailySpendCapUsd: null,
  expiresAt: null,
  permissions: 'trade',
}

/** A real store, registry and delegates, over a fake node and fake markets whose values the test sets. */
export interface NoticesWorld {
  readonly opened: TestStore
  readonly chains: readonly ServedChain[]
  registry: Registry
  nowMs: number
  /** The on-chain delegate of every trader on every chain. */
  delegate: Address
  isNodeAway: boolean
  /** The number of round trips to the node so far. */
  roundTrips: number
  /** State of the Diamond; `undefined` while the markets are not read yet. */
  tradingActivated: number | undefined
  agentsOf: (slug: ChainSlug) => ChainAgents
  options(): Omit<NoticesOptions, 'log'>
  register(record: Pick<AgentRecord, 'agent' | 'trader'> & Partial<AgentRecord>, expiresAt?: number): Promise<void>
  /** Opens everything again over the same files. */
  restart(): Promise<void>
  remove(): Promise<void>
}

export async function openNoticesWorld(slugs: readonly ChainSlug[] = ['base']): Promise<NoticesWorld> {
  const opened = openTestStore()
  await migrate(opened.store)
  const chains = slugs.map((slug) => testChain(slug))
  let agentsBySlug = new Map<ChainSlug, ChainAgents>()
  const client: RpcClient = {
    roundTrips: () => world.roundTrips,
    async batch(calls) {
      world.roundTrips += 1
      if (world.isNodeAway) throw new NodeUnavailableError('away')
      return calls.map(() => ({ ok: true, result: pad(world.delegate as Hex) }))
    },
  }
  const world: NoticesWorld = {
    opened,
    chains,
    registry: undefined as never,
    nowMs: Date.UTC(2026, 10, 15),
    delegate: NOBODY,
    isNodeAway: false,
    roundTrips: 0,
    tradingActivated: 0,
    agentsOf: (slug) => agentsBySlug.get(slug)!,
    options: () => ({
      chains,
      agentsOf: world.agentsOf,
      marketsOf: () =>
        world.tradingActivated === undefined
          ? undefined
          : { ...chainMarkets(), tradingActivated: world.tradingActivated },
      store: opened.store,
      now: () => world.nowMs,
    }),
    async register(record, expiresAt) {
      const scope = { ...SCOPE, expiresAt: expiresAt ?? null }
      const proof = { mode: 'self', agentSigned: true, revoked: false, standing: 'used' } as const
      const fixed = { chain: slugs[0]!, name: '', scope, ...proof }
      const full: AgentRecord = { ...fixed, createdAtMs: 1, signedAtMs: 1, ...record }
      await world.registry.changeAgent(full.chain, full.agent, () => full)
    },
    async restart() {
      await opened.reopen()
      await open()
    },
    remove: () => opened.remove(),
  }

  async function open(): Promise<void> {
    world.registry = await openRegistry(opened.store)
    agentsBySlug = new Map(
      chains.map((chain) => {
        const { slug, chainId, diamond } = chain
        const delegates = createDelegates({ client, diamond, maxAgeMs: 2_000, now: () => world.nowMs })
        const domain = requestDomain({ name: 'Bezel Trading API', chainId, diamond })
        const fixed = { chain, domain, client, relayer: null, markets: () => undefined }
        return [slug, { ...fixed, registry: world.registry, delegates }]
      }),
    )
  }

  await open()
  return world
}
