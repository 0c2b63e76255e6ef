import { chainsAndAgents } from './0001-chains-and-agents.ts'
import { orders } from './0002-orders.ts'
import type { Migration } from './migration.ts'

/** Every migration; its number is its place. */
export const MIGRATIONS: readonly Migration[] = [chainsAndAgents, orders]
