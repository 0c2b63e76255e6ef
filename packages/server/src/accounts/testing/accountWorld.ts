import type { Address } from '@bezel/protocol'
import type { AgentRecord } from '../../trading/agentRecord.ts'
import type { ChainAgents } from '../../agents/chainAgents.ts'
import { createDelegates } from '../../agents/delegates.ts'
import type { ServedChain } from '../../chain/servedChain.ts'
import type { ListedCollateral } from '../../trading/market/chainMarkets.ts'
import { chainMarkets } from '../../market/testing/fixtures.ts'
import { createAccounts, type ChainAccounts } from '../chainAccounts.ts'
import type { AccountLog, AccountNow } from '../../journal/accountLog.ts'
import { createAccountNode, DIAMOND, type AccountNode } from './accountNode.ts'

export const REFRESH_MS = 2_000

/** The accounts of a chain over a node, with a clock and a log that a test holds. */
export interface AccountWorld {
  nowMs: number
  readonly node: AccountNode
  collaterals: readonly ListedCollateral[] | undefined
  /** The registry, whoever asks. */
  readonly records: AgentRecord[]
  /** What the log was told, in this order. */
  readonly told: (AccountNow & { readonly trader: Address })[]
  readonly failures: unknown[]
  /** In front of the log. */
  beforeLog: () => Promise<void>
  agents: ChainAgents
  accounts: ChainAccounts
  /** The same as after a restart: nothing is remembered but what the log keeps. */
  restart(): void
}

export function createAccountWorld(log?: Pick<AccountLog, 'account'>): AccountWorld {
  const node = createAccountNode()

  function start(): Pick<AccountWorld, 'agents' | 'accounts'> {
    const now = (): number => world.nowMs
    const agents = {
      chain: { slug: 'base', diamond: DIAMOND, chainId: 8453 } as ServedChain,
      client: node.client,
      registry: { agentsOf: () => world.records },
      delegates: createDelegates({ client: node.client, diamond: DIAMOND, maxAgeMs: REFRESH_MS, now }),
    } as unknown as ChainAgents
    const accounts = createAccounts({
      agents,
      now,
      maxAgeMs: REFRESH_MS,
      collaterals: () => world.collaterals,
      onFailure: (error) => world.failures.push(error),
      log: {
        async account(trader, account) {
          await world.beforeLog()
          world.told.push({ trader, ...account })
          return log === undefined ? true : log.account(trader, account)
        },
      },
    })
    return { agents, accounts }
  }

  const world: AccountWorld = {
    nowMs: 1_000_000,
    node,
    collaterals: chainMarkets().collaterals,
    records: [],
    told: [],
    failures: [],
    beforeLog: async () => {},
    ...start(),
    restart: () => void Object.assign(world, start()),
  }
  return world
}
