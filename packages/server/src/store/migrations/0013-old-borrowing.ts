import type { Migration } from './migration.ts'

/** The start of a position's first-generation borrowing fee. */
export const oldBorrowing: Migration = {
  kind: 'expand',
  statements: [
    // Every stored state gets the new field; a JSON object begins with a brace.
    `update positions set state = '{"oldBorrowing":null,' || substr(state, 2) where state is not null`,
  ],
}
