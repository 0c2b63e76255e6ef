import { StoreUnavailableError } from '../ground/unavailable.ts'
import { join } from 'node:path'
import { StartupError } from '@bezel/protocol'
import { makeFolder } from './makeFolder.ts'
import { migrate, NewerStoreError } from './migrate.ts'
import { type Store } from './sql.ts'
import { openSqlite } from './sqlite.ts'

const FILE_NAME = 'bezel.db'

/** The store of a deployment, in its data folder, with its schema up to date. Throws a `StartupError` when it can't be used. */
export async function openStore(dataFolder: string): Promise<Store> {
  const file = join(dataFolder, FILE_NAME)
  let store: Store | undefined
  try {
    makeFolder(dataFolder)
    store = openSqlite(file)
    await migrate(store)
    return store
  } catch (error) {
    await store?.close()
    throw startupErrorOf(error, file)
  }
}

function startupErrorOf(error: unknown, file: string): unknown {
  if (error instanceof NewerStoreError) return new StartupError(error.message)
  const { code, errcode, message } = error as { code?: string; errcode?: number; message: string }
  const isOutside = error instanceof StoreUnavailableError || errcode !== undefined || code?.startsWith('E')
  if (!isOutside) return error
  return new StartupError(`The data file ${file} can't be used (${message}): set BEZEL_DATA to another folder.`)
}
