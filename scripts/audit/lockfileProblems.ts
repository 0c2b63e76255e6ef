import { nameOfFolder, type LockedEntry, type Lockfile } from '../release/lockedPackages.ts'

/** The written lists that a lockfile is compared with. */
export interface Allowed {
  /** Names of packages whose install scripts are known. */
  readonly installScripts: readonly string[]
  readonly licences: {
    /** Licences of packages that are given to others. */
    readonly shipped: readonly string[]
    /** Further licences of packages for development, with the reason of each. */
    readonly development: Readonly<Record<string, string>>
    /** Packages for development that name no licence, with the reason of each. */
    readonly unnamed: Readonly<Record<string, string>>
  }
}

const EXACT_VERSION = /^\d+\.\d+\.\d+(?:-[\w.]+)?$/
const INTEGRITY = /^sha512-[A-Za-z0-9+/]{86}==$/

/** Returns a sentence for each entry of a lockfile that is not pinned, or not on a list. It asks nobody. */
export function lockfileProblems(lockfile: Lockfile, allowed: Allowed): string[] {
  return Object.entries(lockfile)
    .filter(([folder, { link }]) => folder.includes('node_modules/') && link !== true)
    .flatMap(([folder, entry]) =>
      entryProblems(nameOfFolder(folder), entry, allowed).map((text) => `${folder} ${text}`),
    )
}

function entryProblems(name: string, entry: LockedEntry, { installScripts, licences }: Allowed): string[] {
  const { version = '', integrity = '', resolved, hasInstallScript = false } = entry
  return [
    ...(EXACT_VERSION.test(version) ? [] : [`has the version "${version}", which is not exact`]),
    ...(INTEGRITY.test(integrity) ? [] : ['has no sha512 digest, so that anything could be installed in its place']),
    ...(resolved === undefined ? [] : [`comes from ${resolved}, not from the registry by its name`]),
    ...(hasInstallScript && !installScripts.includes(name)
      ? ['has an install script that is not in scripts/installScripts.json']
      : []),
    ...(isLicensed(name, entry, licences) ? [] : [`has a licence (${entry.license ?? 'none'}) that is on no list`]),
  ]
}

function isLicensed(name: string, { license, dev }: LockedEntry, licences: Allowed['licences']): boolean {
  if (license !== undefined && licences.shipped.includes(license)) return true
  if (dev !== true) return false
  return license === undefined ? name in licences.unnamed : license in licences.development
}

/** Returns the licences and packages on the lists that no entry of the lockfiles has. */
export function unusedLicences(lockfiles: readonly Lockfile[], { licences }: Allowed): string[] {
  const entries = lockfiles.flatMap((lockfile) => Object.entries(lockfile))
  const used = new Set(entries.map(([folder, { license }]) => license ?? nameOfFolder(folder)))
  const listed = [...licences.shipped, ...Object.keys({ ...licences.development, ...licences.unnamed })]
  return listed.filter((one) => !used.has(one))
}
