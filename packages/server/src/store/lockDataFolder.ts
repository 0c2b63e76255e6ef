import { StartupError } from '@bezel/protocol'
import { lockService, makePrivateFolder, type FileLock } from '@bezel/protocol/dataFolder'

/**
 * Locks the data folder for this process, makes it when it is missing, and closes it to other users. The files `beside`
 * (absolute paths) may lie in it. Throws a `StartupError` when another service has it: used nonces, the relayer's next
 * nonce and what a service keeps in memory belong to one process. The operating system releases the lock when the
 * process ends, however it ends.
 */
export function lockDataFolder(folder: string, beside: readonly string[]): FileLock {
  makePrivateFolder(folder, beside)
  const lock = lockService(folder)
  if (lock !== undefined) return lock
  throw new StartupError(
    `The data folder ${folder} is in use by another service: stop that one first, or set BEZEL_DATA to another folder.`,
  )
}
