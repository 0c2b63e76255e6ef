import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Store } from '../sql.ts'
import { openSqlite } from '../sqlite.ts'

/** A store for a test: a real file in a temporary folder, which `remove` deletes. */
export interface TestStore {
  readonly file: string
  store: Store
  /** Closes the store and opens it again, as a restart does. */
  reopen(): Promise<Store>
  remove(): Promise<void>
}

export function openTestStore(): TestStore {
  const folder = mkdtempSync(join(tmpdir(), 'bezel-store-'))
  const file = join(folder, 'bezel.db')
  const opened: TestStore = {
    file,
    store: openSqlite(file),
    async reopen() {
      await opened.store.close()
      opened.store = openSqlite(file)
      return opened.store
    },
    async remove() {
      await opened.store.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
  return opened
}
