import type { Migration } from './migration.ts'

/** Prices over time. */
export const candles: Migration = {
  statements: [],
}
