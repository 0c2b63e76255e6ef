import { lstatSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export const MARKER_NAME = 'bezel-devnet-marker.json'
export const MARKER_DRAFT_NAME = `${MARKER_NAME}.draft`

/** What a devnet leaves in its data folder, so that a later one knows that it may wipe it. */
export interface DataFolderMarker {
  readonly layout: number
  /** The process that has the folder, or had it last. For messages only: the lock decides. */
  readonly pid: number
}

/** `undefined` when there is none, or none as this or any other version writes it. */
export function readMarker(folder: string): DataFolderMarker | undefined {
  try {
    const path = join(folder, MARKER_NAME)
    if (!lstatSync(path).isFile()) return undefined
    const { layout, pid } = JSON.parse(readFileSync(path, 'utf8')) as Partial<DataFolderMarker>
    return Number.isSafeInteger(layout) && Number.isSafeInteger(pid) ? ({ layout, pid } as DataFolderMarker) : undefined
  } catch {
    return undefined
  }
}

/** Written beside and renamed, so that a kill in between leaves the old marker or the new one, never half of one. */
export function writeMarker(folder: string, marker: DataFolderMarker): void {
  const draft = join(folder, MARKER_DRAFT_NAME)
  rmSync(draft, { force: true })
  writeFileSync(draft, `${JSON.stringify(marker)}\n`, { flag: 'wx' })
  renameSync(draft, join(folder, MARKER_NAME))
}
