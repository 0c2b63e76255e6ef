import { createHash } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'

const CONSOLE = join(import.meta.dirname, '..')
const ROOT = join(CONSOLE, '..', '..')

/** Files that the bundle follows from. The lockfile names the version of every package in it, and of the bundler. */
const SOURCES = [
  'LICENSE',
  'package-lock.json',
  'packages/console/{index.html,icon.svg,package.json,tsconfig.json}',
  'packages/console/{build,src}/**/*.{ts,tsx,css,svg}',
  'packages/{sdk,protocol}/src/**/*.ts',
  'packages/{sdk,protocol}/package.json',
]

/** Length of a digest in hexadecimal digits: 80 bits. */
const DIGEST_CHARS = 20

/** Returns a digest of all sources of the console: two trees with the same one have the same bundle. */
export function sourceDigest(root = ROOT): string {
  const files = globSync(SOURCES, { cwd: root, exclude: (name) => /node_modules|\.test\.ts$|\/testing\//.test(name) })
  const hash = createHash('sha256')
  for (const file of files.toSorted()) {
    const content = readFileSync(join(root, file))
    hash.update(`${relative('.', file)}\0${content.length}\0`).update(content)
  }
  return hash.digest('hex').slice(0, DIGEST_CHARS)
}
