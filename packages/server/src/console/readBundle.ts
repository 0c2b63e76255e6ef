import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The built console, in memory. */
export interface ConsoleBundle {
  /** Digest of the sources that it was built from. */
  readonly version: string
  /** The page that every view starts from. */
  readonly page: BundleFile
  /** Scripts, styles and pictures, by file name. The names carry a hash of the content. */
  readonly assets: ReadonlyMap<string, BundleFile>
}

/** A file with the forms in which it is sent. */
export interface BundleFile {
  readonly type: string
  readonly body: Buffer
  readonly compressed: Readonly<Record<'br' | 'gzip', Buffer>>
}

/** The folder that `npm run console` writes. */
export const BUNDLE_FOLDER = fileURLToPath(new URL('../../../console/dist/', import.meta.url))

/** Media types by file ending. Files of other endings are not served. */
const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
}

/**
 * Reads the bundle as a whole, so that a build beside a running service changes nothing in it; `undefined` when none
 * was built. The manifest is written last, so a bundle that has one is complete.
 */
export function readBundle(folder: string): ConsoleBundle | undefined {
  const manifest = join(folder, 'manifest.json')
  if (!existsSync(manifest)) return undefined
  const { digest } = JSON.parse(readFileSync(manifest, 'utf8')) as { readonly digest: string }
  const names = readdirSync(join(folder, 'assets')).filter((name) => extname(name) in TYPES)
  return {
    version: digest,
    page: readBundleFile(join(folder, 'index.html')),
    assets: new Map(names.map((name) => [name, readBundleFile(join(folder, 'assets', name))])),
  }
}

function readBundleFile(path: string): BundleFile {
  return {
    type: TYPES[extname(path)]!,
    body: readFileSync(path),
    compressed: { br: readFileSync(`${path}.br`), gzip: readFileSync(`${path}.gz`) },
  }
}
