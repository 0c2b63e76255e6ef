import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { StartupError } from '@bezel/protocol'
import { MARKER_DRAFT_NAME, MARKER_NAME, readMarker, writeMarker } from './dataFolderMarker.ts'
import { lockFile } from './fileLock.ts'

/** Raised when an older devnet could not understand any more what lies in the folder, or a newer one what an older one left. */
export const DATA_LAYOUT_VERSION = 1

const LOCK_NAME = 'bezel-devnet.lock'

/** These stay through a wipe: the lock must keep its inode, and a folder without its marker would look like a stranger's. */
const OWN_NAMES: readonly string[] = [MARKER_NAME, MARKER_DRAFT_NAME, LOCK_NAME]

/** A data folder that no other devnet can claim or wipe until it is released or this process ends. */
export interface DataFolderClaim {
  readonly folder: string
  /** Gives the folder up. What is in it stays readable; its marker lets the next start wipe it. */
  readonly release: () => void
}

/**
 * Claims `folder` for a fresh chain: creates it, or wipes what an earlier devnet left there. Throws a `StartupError` and changes nothing
 * when the folder is in use, belongs to another version, or holds anything without the marker of a devnet. Whoever holds the lock
 * owns the folder, so neither a re-used process id nor two starts at once can end in a double claim.
 */
export function claimDataFolder(folder: string, log: (line: string) => void): DataFolderClaim {
  return withFolderErrors(folder, () => {
    refuseForeignFolder(folder)
    makeFolder(folder)
    const lock = lockFile(join(folder, LOCK_NAME))
    if (lock === undefined) throw inUseError(folder)
    try {
      takeOver(folder, log)
    } catch (error) {
      lock.release()
      throw error
    }
    return { folder, release: lock.release }
  })
}

/** Level by level: node's own recursive mkdir never returns on a file system that takes no folders, such as /proc. */
function makeFolder(folder: string): void {
  if (existsSync(folder)) return
  makeFolder(dirname(folder))
  try {
    mkdirSync(folder)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}

/** With the lock held. */
function takeOver(folder: string, log: (line: string) => void): void {
  // Again, because another start may have come and gone between the first look and the lock.
  refuseForeignFolder(folder)
  writeMarker(folder, { layout: DATA_LAYOUT_VERSION, pid: process.pid })
  const leftBehind = readdirSync(folder).filter((name) => !OWN_NAMES.includes(name))
  if (leftBehind.length === 0) return
  // `rm` removes a symbolic link itself and never what it points to, at any depth.
  for (const name of leftBehind) rmSync(join(folder, name), { recursive: true, force: true })
  log(`Wiped ${folder}, left there by an earlier local chain: each start is a fresh chain.`)
}

function refuseForeignFolder(folder: string): void {
  const names = listFolder(folder)
  if (names.includes(MARKER_NAME)) return refuseOtherLayout(folder)
  if (names.every((name) => OWN_NAMES.includes(name))) return
  throw new StartupError(
    `The data folder ${folder} holds files that no local chain left there, so nothing was touched: set BEZEL_DATA to an empty or new folder.`,
  )
}

function refuseOtherLayout(folder: string): void {
  const marker = readMarker(folder)
  if (marker?.layout === DATA_LAYOUT_VERSION) return
  const maker = marker === undefined ? 'another version of Bezel' : `a Bezel with data layout ${marker.layout}`
  throw new StartupError(
    `The data folder ${folder} was made by ${maker} and this one has data layout ${DATA_LAYOUT_VERSION}: remove the folder or set BEZEL_DATA to another one.`,
  )
}

function inUseError(folder: string): StartupError {
  const pid = readMarker(folder)?.pid
  const owner = pid === undefined ? 'another local chain that is just starting' : `process ${pid}`
  return new StartupError(
    `The data folder ${folder} is in use by ${owner}: stop it first or set BEZEL_DATA to another folder.`,
  )
}

/** Names in the folder, none when it does not exist. */
function listFolder(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}

/** A disk that is full, a folder that is a file, missing rights: said in a sentence, whichever step met it. */
function withFolderErrors<Result>(folder: string, step: () => Result): Result {
  try {
    return step()
  } catch (error) {
    const { code, syscall } = error as NodeJS.ErrnoException
    if (error instanceof StartupError || syscall === undefined) throw error
    throw new StartupError(`The data folder ${folder} can't be used (${code}): set BEZEL_DATA to another folder.`)
  }
}
