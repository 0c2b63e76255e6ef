import { execFileSync } from 'node:child_process'
import { existsSync, globSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { nameOfFolder, type LockedPackage } from './lockedPackages.ts'
import type { TarEntry } from './tarArchive.ts'

/** Files and folders of the repository that the service runs from or serves. */
export const SOURCES = [
  'package.json',
  'package-lock.json',
  'LICENSE',
  'README.md',
  'CHANGELOG.md',
  'SECURITY.md',
  'chains',
  'deploy',
  'docs',
  'examples',
  'packages/console/package.json',
  'packages/protocol',
  'packages/server',
]
const TESTS = /\.test\.ts$|\/testing\//
/** The bundle of the console, which `npm run console` makes. */
const CONSOLE_BUNDLE = 'packages/console/dist'
/**
 * Files of packages that node never reads: TypeScript, which it does not run below node_modules, and what only
 * debuggers and compilers use.
 */
const UNREAD = /\.(?:ts|mts|cts|map|tsbuildinfo|flow)$/
/**
 * Lists the entries of an archive: sources of the commit in `root`, its bundle of the console, and the installed
 * packages, with links for the workspaces among them.
 */
export function releaseEntries(root: string, packages: readonly LockedPackage[]): TarEntry[] {
  const isWorkspace = ({ folder }: LockedPackage): boolean => !folder.startsWith('node_modules/')
  return [
    ...sourceFiles(root).map((path) => fileEntry(root, path)),
    ...consoleFiles(root).map((path) => fileEntry(root, path)),
    ...packages.filter(isWorkspace).map(linkEntry),
    ...packages.filter((one) => !isWorkspace(one)).flatMap((one) => packageFiles(root, one)),
  ]
}

function sourceFiles(root: string): string[] {
  const listed = execFileSync('git', ['ls-files', '-z', '--', ...SOURCES], { cwd: root, encoding: 'utf8' })
  return listed.split('\0').filter((path) => path !== '' && !TESTS.test(path))
}

function consoleFiles(root: string): string[] {
  if (!existsSync(join(root, CONSOLE_BUNDLE, 'manifest.json'))) {
    throw new Error(`There is no ${CONSOLE_BUNDLE}: run npm run console.`)
  }
  return filesIn(root, CONSOLE_BUNDLE)
}

/**
 * Lists the files of an installed package as it was published: without packages of its own and what its install script
 * built, which is of this machine alone.
 */
function packageFiles(root: string, { folder, name, hasInstallScript = false }: LockedPackage): TarEntry[] {
  if (!existsSync(join(root, folder, 'package.json'))) {
    throw new Error(`${name} is not installed in ${folder}: run npm ci.`)
  }
  const published = filesIn(root, folder).filter((path) => {
    const inside = path.slice(folder.length + 1)
    const isBuilt = hasInstallScript && inside.startsWith('build/')
    return !isBuilt && !UNREAD.test(inside) && !inside.startsWith('node_modules/')
  })
  // Packages are read by node alone, and installers differ in which of their files can be executed.
  return published.map((path) => ({ ...fileEntry(root, path), isExecutable: false }))
}

function filesIn(root: string, folder: string): string[] {
  const found = globSync('**', { cwd: join(root, folder), withFileTypes: true })
  return found
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))
}

function fileEntry(root: string, path: string): Extract<TarEntry, { content: Buffer }> {
  const file = join(root, path)
  return { path, content: readFileSync(file), isExecutable: (statSync(file).mode & 0o100) !== 0 }
}

function linkEntry({ folder }: LockedPackage): TarEntry {
  return { path: `node_modules/${nameOfFolder(folder)}`, target: `../../${folder}` }
}
