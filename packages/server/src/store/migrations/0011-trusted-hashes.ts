import type { Migration } from './migration.ts'

/** Time until which a reported hash counts as sent although no node knows it. Older reports stay trusted. */
export const trustedHashes: Migration = {
  kind: 'expand',
  statements: ['alter table attempts add column trusted_until bigint'],
}
