import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

const POLL_MS = 200
const BEAT_MS = 2_000
/**
 * Age of a lock from which on its holder counts as gone. It was killed, and its process id may belong to another
 * process by now.
 */
const STALE_MS = 30_000

/**
 * Runs `work` while no other setup of the same folder runs. The lock is a folder, because creating one is atomic
 * everywhere. It is among the system's temporary files, because `npm ci` deletes node_modules and nothing else here is
 * ours to write.
 * @param {string} root
 * @param {() => Promise<void>} work
 */
export async function withSetupLock(root, work) {
  const lock = join(tmpdir(), `bezel-setup-${createHash('sha256').update(root).digest('hex').slice(0, 16)}`)
  await takeLock(lock)
  const release = () => rmSync(lock, { recursive: true, force: true })
  const beat = setInterval(() => touch(lock), BEAT_MS)
  process.once('exit', release)
  try {
    await work()
  } finally {
    clearInterval(beat)
    release()
    process.off('exit', release)
  }
}

async function takeLock(lock) {
  for (let isFirstTry = true; !tryLock(lock); isFirstTry = false) {
    if (isFirstTry) console.error('Waiting for another set-up of this folder to finish ...')
    if (isStale(lock)) removeStale(lock)
    else await sleep(POLL_MS)
  }
}

function tryLock(lock) {
  try {
    mkdirSync(lock)
    writeFileSync(join(lock, 'pid'), String(process.pid))
    return true
  } catch (error) {
    if (error.code === 'EEXIST') return false
    throw error
  }
}

/**
 * Removes a stale lock, moving it away first: of two processes that find it stale, the slower must not remove the new
 * lock of the faster.
 */
function removeStale(lock) {
  const grave = `${lock}-${process.pid}`
  try {
    renameSync(lock, grave)
    if (isStale(grave)) rmSync(grave, { recursive: true, force: true })
    else renameSync(grave, lock)
  } catch (error) {
    if (error.code !== 'ENOENT') throw error
  }
}

function isStale(lock) {
  const entry = statSync(lock, { throwIfNoEntry: false })
  if (entry === undefined) return false
  return Date.now() - entry.mtimeMs > STALE_MS || !isAlive(holderOf(lock))
}

/** Returns the holder's process id; `undefined` while it has not been written yet. */
function holderOf(lock) {
  try {
    return Number(readFileSync(join(lock, 'pid'), 'utf8')) || undefined
  } catch {
    return undefined
  }
}

function isAlive(pid) {
  try {
    if (pid !== undefined) process.kill(pid, 0)
    return true
  } catch (error) {
    return error.code === 'EPERM'
  }
}

function touch(lock) {
  try {
    utimesSync(lock, new Date(), new Date())
  } catch {
    // The temporary folder was emptied: the work continues, and the next setup checks its result.
  }
}
