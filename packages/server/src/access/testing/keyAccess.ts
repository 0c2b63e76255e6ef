import { requestDomain, type Address } from '@bezel/protocol'
import { hashApiKey } from '../../agents/apiKey.ts'
import { createChainAgents } from '../../agents/chainAgents.ts'
import { testRegistry } from '../../agents/testing/testRegistry.ts'
import type { RpcClient } from '../../chain/rpcClient.ts'
import type { ServedChain } from '../../chain/servedChain.ts'
import { NodeUnavailableError } from '../../ground/unavailable.ts'
import { ENGINES } from '../../signatures/testing/engines.ts'
import type { PrivateContext } from '../authenticateCall.ts'
import { admitInProcess } from '../admission.ts'
import { createInProcessLimits } from '../inProcessLimits.ts'
import type { Nonces } from '../nonces.ts'

const NO_NODE: RpcClient = {
  roundTrips: () => 0,
  async batch() {
    throw new NodeUnavailableError('there is no node')
  },
}

/** Nonces that accept none: API keys need none. */
const NO_NONCES: Nonces = { size: 0, claim: () => false, storeClaim: async () => false, close: () => undefined }

/** Returns the access of a chain on which these traders have an API key each and nobody has an agent. */
export function keyAccess(chain: ServedChain, keys: ReadonlyMap<Address, string>): PrivateContext {
  const owners = new Map<string | undefined, Address>([...keys].map(([trader, key]) => [hashApiKey(key), trader]))
  const registry = testRegistry({ keyOwner: (_chain, keyHash) => owners.get(keyHash) })
  const domain = requestDomain({ name: 'Test', chainId: chain.chainId, diamond: chain.diamond })
  const now = Date.now
  const of = {
    client: NO_NODE,
    registry,
    domain,
    relayer: () => null,
    markets: () => undefined,
    delegateMaxAgeMs: 2_000,
    now,
  }
  const agents = createChainAgents(chain, of)
  const limits = createInProcessLimits()
  return {
    agentsOf: () => agents,
    authenticate: {
      registry,
      engine: ENGINES[0]!,
      limits,
      admission: admitInProcess({ limits, nonces: NO_NONCES, now }),
      agentLimit: 10_000,
      nonces: NO_NONCES,
      headerPrefix: 'X-Service-',
      domainOf: () => domain,
      now,
    },
    now,
  }
}
