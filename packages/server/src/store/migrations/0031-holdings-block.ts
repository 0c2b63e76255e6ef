import type { Migration } from './migration.ts'

/**
 * The block of the holdings that a log last told. Only nodes that share a database ask for it, so that none tells an
 * older state after a newer one.
 */
export const holdingsBlock: Migration = {
  kind: 'expand',
  statements: ['alter table account_logs add column holdings_block bigint'],
}
