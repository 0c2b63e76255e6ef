import { existsSync, mkdirSync } from 'node:fs'
import { dirname } from 'node:path'

/** Level by level: node's own recursive mkdir never returns on a file system that takes no folders, such as /proc. */
export function makeFolder(folder: string): void {
  if (existsSync(folder)) return
  makeFolder(dirname(folder))
  try {
    mkdirSync(folder)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}
