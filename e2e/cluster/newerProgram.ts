import process from 'node:process'
import { MIGRATIONS } from '../../packages/server/src/store/migrations/index.ts'
import type { Migration } from '../../packages/server/src/store/migrations/migration.ts'

// Loaded before the service (`node --import`): makes it a newer program, with steps of the schema that are named in
// NEWER_STEPS. They change a table that every request and every block uses.

/** The steps of the newer programs. */
const STEPS: Readonly<Record<string, Migration>> = {
  expand: { kind: 'expand', statements: ['alter table orders add column desk text'] },
  contract: { kind: 'contract', statements: ['alter table orders drop column desk'] },
}

for (const name of (process.env['NEWER_STEPS'] ?? '').split(',')) {
  const step = STEPS[name]
  if (step === undefined) throw new Error(`There is no step ${name}.`)
  ;(MIGRATIONS as Migration[]).push(step)
}
