import { MAX_CLAIMS } from '../claims.ts'
import type { Registry } from '../registry.ts'

/** Returns a read-only registry without agents and keys, in which a test replaces the reads it is about. */
export function testRegistry(changes: Partial<Registry> = {}): Registry {
  return {
    maxClaims: MAX_CLAIMS,
    agent: () => undefined,
    findAgent: (chain, agent) => changes.agent?.(chain, agent) ?? undefined,
    agentsOf: () => [],
    changeAgent: refuse,
    addOwnAgent: refuse,
    tellAgent: () => {},
    tellGone: () => {},
    noteStanding: async () => {},
    forgetOldClaims: async () => {},
    onAgentChange: () => () => undefined,
    keyOwner: () => undefined,
    isKeyEnded: () => false,
    noteKeyUse: async () => {},
    listKeys: async () => [],
    addKey: refuse,
    endKey: refuse,
    ...changes,
  }
}

async function refuse(): Promise<never> {
  throw new Error('this registry is read-only')
}
