import type { Migration } from './migration.ts'

/** What users are told. */
export const notices: Migration = {
  statements: [],
}
