import { requestDomain, type Address } from '@bezel/protocol'
import { testChain } from '@bezel/testkit/servedChain.ts'
import type { AgentRecord } from '../../trading/agentRecord.ts'
import { createChainAgents, type ChainAgents } from '../../agents/chainAgents.ts'
import { testRegistry } from '../../agents/testing/testRegistry.ts'
import type { ListedCollateral } from '../../trading/market/chainMarkets.ts'
import { chainMarkets } from '../../market/testing/fixtures.ts'
import type { LivePosition } from '../../trading/positions/positionModel.ts'
import { createAccounts, type ChainAccounts } from '../chainAccounts.ts'
import { createKnownTerms, type KnownTerms } from '../positions/traderTerms.ts'
import type { AccountLog, AccountNow } from '../../journal/accountLog.ts'
import { createAccountNode, DIAMOND, type AccountNode } from './accountNode.ts'

export const REFRESH_MS = 2_000

const BASE = testChain('base', { diamond: DIAMOND })

/** The accounts of a chain over a fake node, with a clock and a log that the test controls. */
export interface AccountWorld {
  nowMs: number
  readonly node: AccountNode
  collaterals: readonly ListedCollateral[] | undefined
  /** The open positions of all traders. */
  positions: readonly LivePosition[]
  /** The traders who have a live order. */
  readonly ordering: Set<Address>
  /** The agents that the registry returns for every trader. */
  readonly records: AgentRecord[]
  /** The accounts that were written to the log, in this order. */
  readonly told: (AccountNow & { readonly trader: Address })[]
  readonly failures: unknown[]
  /** Runs before each write to the log. */
  beforeLog: () => Promise<void>
  agents: ChainAgents
  accounts: ChainAccounts
  terms: KnownTerms
  /** Starts over as after a restart: nothing is remembered except what the log keeps. */
  restart(): void
}

/** Creates a world; `isShared` when other nodes write to the same log. */
export function createAccountWorld(log?: Pick<AccountLog, 'account'>, isShared = false): AccountWorld {
  const node = createAccountNode()

  function start(): Pick<AccountWorld, 'agents' | 'accounts' | 'terms'> {
    const now = (): number => world.nowMs
    const agents = createChainAgents(BASE, {
      client: node.client,
      registry: testRegistry({ agentsOf: () => world.records }),
      domain: requestDomain({ name: 'Test', chainId: BASE.chainId, diamond: DIAMOND }),
      relayer: () => null,
      markets: () => undefined,
      delegateMaxAgeMs: REFRESH_MS,
      now,
    })
    const terms = createKnownTerms(now)
    const accounts = createAccounts({
      agents,
      terms,
      positions: {
        ofTrader: (trader) => world.positions.filter(({ record }) => record.trader === trader),
        active: () => world.positions,
        packedPairs: () => [],
      },
      hasOrders: async (trader) => world.ordering.has(trader),
      now,
      maxAgeMs: REFRESH_MS,
      isShared,
      collaterals: () => world.collaterals,
      onFailure: (error) => world.failures.push(error),
      log: {
        async account(trader, account) {
          await world.beforeLog()
          world.told.push({ trader, ...account })
          return log === undefined ? 'appended' : log.account(trader, account)
        },
      },
    })
    return { agents, accounts, terms }
  }

  const world: AccountWorld = {
    nowMs: 1_000_000,
    node,
    collaterals: chainMarkets().collaterals,
    positions: [],
    ordering: new Set(),
    records: [],
    told: [],
    failures: [],
    beforeLog: async () => {},
    ...start(),
    restart: () => void Object.assign(world, start()),
  }
  return world
}
