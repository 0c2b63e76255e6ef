import type { Migration } from './migration.ts'

/** Finds at once whether a transaction was prepared that may be mined without having been reported. */
export const unreportedAttempts: Migration = {
  kind: 'expand',
  statements: ['create index attempts_unreported on attempts (chain, expires_at) where submitted_hash is null'],
}
