import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** An entry of package-lock.json, as far as it is used here. */
export interface LockedEntry {
  readonly version?: string
  readonly integrity?: string
  readonly license?: string
  readonly resolved?: string
  /** True for a workspace, whose folder is `resolved`. */
  readonly link?: boolean
  readonly dev?: boolean
  readonly hasInstallScript?: boolean
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>
}

/** The entries of a lockfile, by their folders. */
export type Lockfile = Readonly<Record<string, LockedEntry>>

/** A package with its folder. */
export interface LockedPackage extends LockedEntry {
  /** Path from the root of the project, such as `node_modules/viem`. */
  readonly folder: string
  readonly name: string
}

/** Reads package-lock.json of a folder. */
export function readLockfile(root: string): Lockfile {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as { packages: Lockfile }
  return packages
}

/**
 * Lists what the workspace in `folder` needs to run, itself included, sorted by folder: packages for development and
 * peers that it can do without are left out.
 */
export function neededPackages(lockfile: Lockfile, folder: string): LockedPackage[] {
  const found = new Map<string, LockedPackage>()
  const open = [folder]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const entry = lockfile[next]
    if (entry === undefined) throw new Error(`package-lock.json has no ${next}.`)
    if (entry.link === true) {
      open.push(entry.resolved!)
    } else if (!found.has(next)) {
      found.set(next, { ...entry, folder: next, name: nameOfFolder(next) })
      open.push(...neededFolders(lockfile, next, entry))
    }
  }
  return [...found.values()].toSorted((a, b) => (a.folder < b.folder ? -1 : 1))
}

/** Returns the name of the package in a folder of a lockfile; of a workspace, its name is that of its link. */
export function nameOfFolder(folder: string): string {
  const at = folder.lastIndexOf('node_modules/')
  return at < 0 ? `@bezel/${folder.slice(folder.lastIndexOf('/') + 1)}` : folder.slice(at + 'node_modules/'.length)
}

function neededFolders(lockfile: Lockfile, from: string, entry: LockedEntry): string[] {
  const { dependencies = {}, optionalDependencies = {}, peerDependencies = {}, peerDependenciesMeta = {} } = entry
  const peers = Object.keys(peerDependencies).filter((name) => peerDependenciesMeta[name]?.optional !== true)
  const required = [...Object.keys(dependencies), ...peers].filter((name) => !(name in optionalDependencies))
  return [
    ...required.map((name) => {
      const folder = resolveFolder(lockfile, from, name)
      if (folder === undefined) throw new Error(`package-lock.json has no ${name}, which ${from} needs.`)
      return folder
    }),
    ...Object.keys(optionalDependencies).flatMap((name) => resolveFolder(lockfile, from, name) ?? []),
  ]
}

/** Finds a package as node does: in the node_modules of the folder, or in one above it. */
function resolveFolder(lockfile: Lockfile, from: string, name: string): string | undefined {
  const folder = `${from === '' ? '' : `${from}/`}node_modules/${name}`
  if (folder in lockfile) return folder
  return from === '' ? undefined : resolveFolder(lockfile, from.slice(0, Math.max(0, from.lastIndexOf('/'))), name)
}
