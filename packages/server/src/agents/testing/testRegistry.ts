import type { Registry } from '../registry.ts'

/** Returns a read-only registry without agents and keys, in which a test replaces the reads it is about. */
export function testRegistry(changes: Partial<Registry> = {}): Registry {
  return {
    agent: () => undefined,
    agentsOn: () => [],
    agentsOf: () => [],
    changeAgent: refuse,
    addOwnAgent: refuse,
    noteAgent: () => {},
    onAgentChange: () => () => undefined,
    keyOwner: () => undefined,
    addKey: refuse,
    ...changes,
  }
}

async function refuse(): Promise<never> {
  throw new Error('this registry is read-only')
}
