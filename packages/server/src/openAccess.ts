import type { PrivateContext } from './access/authenticateCall.ts'
import { join } from 'node:path'
import type { Address, ChainSlug } from '@bezel/protocol'
import type { ChainAgents } from './agents/chainAgents.ts'
import { startAgents } from './agents/startAgents.ts'
import type { RpcClient } from './chain/rpcClient.ts'
import type { ServedChain } from './chain/servedChain.ts'
import { createInProcessLimits } from './access/inProcessLimits.ts'
import type { Limits } from './access/limits.ts'
import { openNonces } from './access/nonces.ts'
import type { ServerConfig } from './settings/config.ts'
import { selectEngine } from './signatures/selectEngine.ts'
import type { SignatureEngine } from './signatures/signatureEngine.ts'
import type { Store } from './store/sql.ts'
import type { AgentRoutesContext } from './http/routes/agents/agentRoutes.ts'
import { servedChainOf } from './access/servedChainOf.ts'

/** Who may ask for what: agents, keys, signatures, nonces and limits. */
export interface Access extends AgentRoutesContext, PrivateContext {
  readonly limits: Limits
  readonly engine: SignatureEngine
  close(): void
}

const NONCE_FILE_NAME = 'nonces.log'

export async function openAccess(
  config: ServerConfig,
  of: {
    readonly chains: readonly ServedChain[]
    readonly clientOf: (slug: ChainSlug) => RpcClient
    readonly store: Store
    /** Who sends for the facade's agents; `null` without a key. */
    readonly relayer: Address | null
    readonly now: () => number
  },
): Promise<Access> {
  const { now, chains } = of
  const engine = await selectEngine()
  const byChain = await startAgents({
    ...of,
    domainName: config.domainName,
    delegateMaxAgeMs: config.accountRefreshMs,
  })
  const nonces = await openNonces({ store: of.store, file: join(config.dataFolder, NONCE_FILE_NAME), now })
  const limits = createInProcessLimits()
  const agentsOf = (slug: string): ChainAgents => byChain.get(servedChainOf(chains, slug).slug)!
  return {
    agentsOf,
    engine,
    limits,
    contractCalls: createInProcessLimits(),
    trustedProxies: config.trustedProxies,
    now,
    authenticate: {
      registry: agentsOf(chains[0]!.slug).registry,
      engine,
      limits,
      agentLimit: config.agentLimit,
      nonces,
      headerPrefix: config.headerPrefix,
      domainOf: (slug) => agentsOf(slug).domain,
      now,
    },
    close: () => nonces.close(),
  }
}
