import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { StartupError } from '@bezel/protocol'
import { neededPackages, readLockfile } from './lockedPackages.ts'
import { releaseEntries } from './releaseEntries.ts'
import { sbomOf, type ReleaseInfo } from './sbom.ts'
import { createTarGz, type TarEntry } from './tarArchive.ts'

const SERVER = 'packages/server'
const CONSOLE = 'packages/console'
/** File of the archive that says what it is; `bezel-server --version` reads it. */
const ABOUT_FILE = 'release.json'

/**
 * Writes the files of a release of the commit in `root` to `folder`: archive, notes, SBOM and checksums. Returns their
 * names. Throws a `StartupError` when the folder is no clean commit, or its version has no notes.
 */
export async function buildRelease(root: string, folder: string): Promise<string[]> {
  const info = readInfo(root)
  const name = `bezel-${info.version}`
  const notes = changelogSection(readFileSync(join(root, 'CHANGELOG.md'), 'utf8'), info.version)
  const lockfile = readLockfile(root)
  const service = neededPackages(lockfile, SERVER)
  const bundled = neededPackages(lockfile, CONSOLE).filter(({ folder: place }) => place !== CONSOLE)
  const entries = [...releaseEntries(root, service), aboutEntry(info)]
  const inFolder = entries.map((entry) => ({ ...entry, path: `${name}/${entry.path}` }))
  const parts = [
    ...service.map((one) => ({ ...one, place: 'service' as const })),
    ...bundled.map((one) => ({ ...one, place: 'console' as const })),
  ]
  const files = new Map<string, Buffer>([
    [`${name}.tar.gz`, await createTarGz(inFolder, info.committedSeconds)],
    [`${name}.cdx.json`, Buffer.from(`${JSON.stringify(sbomOf(info, parts), undefined, 2)}\n`)],
    [`${name}.md`, Buffer.from(`# Bezel ${info.version}\n\n${notes}\n`)],
  ])
  const sums = [...files].map(([file, content]) => `${sha256(content)}  ${file}\n`).join('')
  files.set('SHA256SUMS', Buffer.from(sums))
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  for (const [file, content] of files) writeFileSync(join(folder, file), content)
  return [...files.keys()]
}

/** Reads version and commit. Throws a `StartupError` when they are not those of everything that would be packed. */
function readInfo(root: string): ReleaseInfo {
  const version = versionIn(root, '.')
  const other = [SERVER, CONSOLE, 'packages/protocol'].find((place) => versionIn(root, place) !== version)
  if (other !== undefined) throw new StartupError(`The version in ${other} is not ${version}: set both to the same.`)
  const changed = git(root, ['status', '--porcelain', '--untracked-files=all'])
  if (changed !== '') throw new StartupError(`A release is made of a commit, and these are not in it:\n${changed}`)
  const [commit = '', seconds] = git(root, ['log', '-1', '--format=%H %ct']).split(' ')
  return { version, commit, committedSeconds: Number(seconds) }
}

function versionIn(root: string, folder: string): string {
  return (JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8')) as { readonly version: string }).version
}

function git(root: string, args: readonly string[]): string {
  return execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trimEnd()
}

/** Returns what the changelog says of a version. Throws a `StartupError` when that is nothing. */
export function changelogSection(changelog: string, version: string): string {
  const sections = changelog.split(/^## /m).slice(1)
  const section = sections.find((text) => /^\[?([^\s\]]+)/.exec(text)?.[1] === version)
  const notes = section?.slice(section.indexOf('\n')).trim() ?? ''
  if (notes !== '') return notes
  throw new StartupError(
    `CHANGELOG.md has no section ${version}: name the section of what is released so (## ${version}), or set another version.`,
  )
}

function aboutEntry({ version, commit }: ReleaseInfo): TarEntry {
  const content = Buffer.from(`${JSON.stringify({ version, commit })}\n`)
  return { path: ABOUT_FILE, content, isExecutable: false }
}

function sha256(content: Buffer): string {
  return createHash('sha256').update(content).digest('hex')
}
