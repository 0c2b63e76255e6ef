import { chainsAndAgents } from './0001-chains-and-agents.ts'

/** A step of the schema: forward only, never edited once released. SQL of the subset that SQLite and PostgreSQL share. */
export interface Migration {
  readonly statements: readonly string[]
}

/** Every migration; its number is its place. */
export const MIGRATIONS: readonly Migration[] = [chainsAndAgents]
