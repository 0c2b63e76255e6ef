import type { Store } from '../sql.ts'
import { TEST_SCOPE } from './testScope.ts'

/** Makes the store refuse every new row of a table, as a full disk does. Returns a function that ends it. */
export async function refuseInserts(
  store: Pick<Store, 'read' | 'transaction'>,
  table: string,
): Promise<() => Promise<void>> {
  const { refuse, allow } = store.read.engine === 'postgres' ? byConstraint(table) : byTrigger(table)
  await store.transaction(TEST_SCOPE, (sql) => sql.run(refuse))
  return async () => {
    await store.transaction(TEST_SCOPE, (sql) => sql.run(allow))
  }
}

interface Refusal {
  readonly refuse: string
  readonly allow: string
}

const byTrigger = (table: string): Refusal => ({
  refuse: `create trigger no_rows before insert on ${table} begin select raise(abort, 'full'); end`,
  allow: 'drop trigger no_rows',
})

const byConstraint = (table: string): Refusal => ({
  refuse: `alter table ${table} add constraint no_rows check (false) not valid`,
  allow: `alter table ${table} drop constraint no_rows`,
})
