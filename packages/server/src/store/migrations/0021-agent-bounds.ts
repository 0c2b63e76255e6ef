import type { Migration } from './migration.ts'

/** The indices behind the bounds of agents: what is kept for ever of a trader, and where an agent was used. */
export const agentBounds: Migration = {
  kind: 'expand',
  statements: [
    'create index accepted_structs_kept on accepted_structs (chain, trader, agent) where is_kept = 1',
    'create index agents_used on agents (agent) where standing = 2',
  ],
}
