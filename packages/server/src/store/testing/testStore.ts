import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Store } from '../sql.ts'
import { openSqlite } from '../sqlite.ts'
import { asAsked } from './twiceStore.ts'

/** A store for a test: a real file in a temporary folder, which `remove` deletes. */
export interface TestStore {
  readonly file: string
  store: Store
  /** Closes the store and opens it again, as a restart does. */
  reopen(): Promise<Store>
  remove(): Promise<void>
}

/** Opens a test store. `isPlain` is for tests of the engine itself, whose transactions run once in any case. */
export function openTestStore({ isPlain = false }: { readonly isPlain?: boolean } = {}): TestStore {
  const open = (): Store => (isPlain ? openSqlite(file) : asAsked(openSqlite(file)))
  const folder = mkdtempSync(join(tmpdir(), 'bezel-store-'))
  const file = join(folder, 'bezel.db')
  const opened: TestStore = {
    file,
    store: open(),
    async reopen() {
      await opened.store.close()
      opened.store = open()
      return opened.store
    },
    async remove() {
      await opened.store.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
  return opened
}
