import { spawnSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, rmdirSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'

/** A disk of a few megabytes in memory, which a test fills. */
export interface SmallDisk {
  readonly folder: string
  /** Writes until there is no room left. */
  fill(): void
  /** Makes room again. */
  free(): void
  unmount(): void
}

const CHUNK = Buffer.alloc(64 * 1024)

/** Mounts a disk of `megabytes` below the temporary folder. Returns `undefined` where that is not allowed. */
export function mountSmallDisk(megabytes: number): SmallDisk | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'bezel-disk-'))
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', folder])
  if (status !== 0) {
    rmdirSync(folder)
    return undefined
  }
  const ballast = join(folder, 'ballast')
  const unmount = (): void => {
    process.removeListener('exit', unmount)
    // Lazily, because a server that is just ending may still have files open.
    spawnSync('umount', ['--lazy', folder])
    rmdirSync(folder)
  }
  process.once('exit', unmount)
  return { folder, fill: () => fillFile(ballast), free: () => rmSync(ballast), unmount }
}

/** Appends to a file until the disk is full, down to its last byte. */
function fillFile(path: string): void {
  const file = openSync(path, 'a')
  try {
    for (let bytes = CHUNK.length; bytes > 0;) {
      try {
        writeSync(file, CHUNK, 0, bytes)
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
        bytes = Math.floor(bytes / 2)
      }
    }
  } finally {
    closeSync(file)
  }
}
