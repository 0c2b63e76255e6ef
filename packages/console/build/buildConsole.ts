import { hash } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, extname, join, parse } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { ImportKind, Metafile } from 'esbuild'
import { licencesOf } from './licences.ts'
import { sourceDigest } from './sourceDigest.ts'

/** A built console, as its manifest describes it. */
export interface BuiltConsole {
  /** Digest of the sources. */
  readonly digest: string
  /** Names of the scripts that every visit loads, the entry first. */
  readonly firstScripts: readonly string[]
  /** Names of all scripts that a visit loads which begins with this view, by the name of the view's own script. */
  readonly viewScripts: Readonly<Record<string, readonly string[]>>
  /** Sizes of all files, by path from the folder. */
  readonly sizes: Readonly<Record<string, FileSize>>
}

/** Sizes of a file in bytes. */
export interface FileSize {
  readonly plain: number
  readonly br: number
  readonly gzip: number
}

export interface BuildOptions {
  /** Folder of the bundle. Default: `dist` of the package. */
  readonly folder?: string
  /** Module that the bundle starts with. Default: that of the console. */
  readonly entry?: string
  /** Called before anything is built. */
  readonly onBuild?: () => void
}

const CONSOLE = join(import.meta.dirname, '..')
const MANIFEST_NAME = 'manifest.json'
const ASSETS_PLACE = '    <!-- assets -->\n'
const HASH_CHARS = 8

const [compressBrotli, compressGzip] = [promisify(brotliCompress), promisify(gzip)]

/**
 * Builds the console, unless the folder has the bundle of these very sources. The new bundle takes the place of the old
 * one as a whole, so that nobody ever reads half of one.
 */
export async function buildConsole(options: BuildOptions = {}): Promise<BuiltConsole> {
  const { folder = join(CONSOLE, 'dist'), entry = join(CONSOLE, 'src', 'main.tsx') } = options
  const digest = sourceDigest()
  const built = readManifest(folder)
  if (built?.digest === digest) return built
  options.onBuild?.()
  mkdirSync(dirname(folder), { recursive: true })
  const draft = mkdtempSync(`${folder}-`)
  try {
    const metafile = await bundle(entry, draft)
    const scripts = scriptsOf(metafile)
    const licences = writeNamed(draft, 'licences.txt', licencesOf(metafile, draft))
    writePage(draft, scripts.firstScripts, licences)
    const made = { digest, ...scripts, sizes: await compressAll(draft) }
    writeFileSync(join(draft, MANIFEST_NAME), `${JSON.stringify(made, undefined, 2)}\n`)
    replaceFolder(folder, draft)
    return made
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
}

function readManifest(folder: string): BuiltConsole | undefined {
  const file = join(folder, MANIFEST_NAME)
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as BuiltConsole) : undefined
}

/** The number of builds of this process that use the bundler now. */
let running = 0

/** Bundles the modules into `assets`, named by their content. Returns what the bundler says about them. */
async function bundle(entry: string, folder: string): Promise<Metafile> {
  // Imported only here, because a bundle that is up to date needs no bundler.
  const { build, stop } = await import('esbuild')
  running += 1
  try {
    const { metafile } = await build({
      entryPoints: { main: entry },
      outdir: folder,
      absWorkingDir: folder,
      bundle: true,
      splitting: true,
      format: 'esm',
      platform: 'browser',
      target: 'es2022',
      jsx: 'automatic',
      jsxImportSource: 'preact',
      minify: true,
      metafile: true,
      legalComments: 'none',
      define: { 'process.env.NODE_ENV': '"production"' },
      entryNames: 'assets/[name]-[hash]',
      chunkNames: 'assets/[name]-[hash]',
      assetNames: 'assets/[name]-[hash]',
      publicPath: '/',
      loader: { '.svg': 'file' },
      logLevel: 'silent',
    })
    await build({
      stdin: { contents: styleSheet(metafile, folder), loader: 'css', resolveDir: folder },
      outdir: folder,
      bundle: true,
      target: 'es2022',
      minify: true,
      entryNames: 'assets/style-[hash]',
      logLevel: 'silent',
    })
    return metafile
  } finally {
    // The program of the bundler would stay for as long as this process lives, also while the service runs.
    if (--running === 0) await stop()
  }
}

/**
 * Returns one style sheet that imports all others, each once, and deletes those that the bundler made. It makes one
 * for each script that is loaded later, but loads none of them, and repeats what two of them share, so that the order
 * of the rules would depend on the order of the views.
 */
function styleSheet({ outputs }: Metafile, folder: string): string {
  const made = Object.keys(outputs).filter((path) => extname(path) === '.css')
  const mainFirst = made.toSorted((a, b) => Number(b.includes('/main-')) - Number(a.includes('/main-')))
  const sources = new Set(mainFirst.flatMap((path) => Object.keys(outputs[path]!.inputs)))
  for (const path of made) rmSync(join(folder, path))
  return [...sources].map((path) => `@import ${JSON.stringify(join(folder, path))};\n`).join('')
}

/** Returns the names of the scripts that are loaded first, and of those of each view, which is loaded when needed. */
function scriptsOf({ outputs }: Metafile): Pick<BuiltConsole, 'firstScripts' | 'viewScripts'> {
  const imported = (path: string, wanted: ImportKind): string[] =>
    outputs[path]!.imports.filter(({ kind, external }) => kind === wanted && external !== true).map((one) => one.path)
  const closure = (paths: readonly string[]): string[] => {
    const found = new Set(paths)
    for (const path of found) for (const next of imported(path, 'import-statement')) found.add(next)
    return [...found]
  }
  const names = (paths: readonly string[]): string[] => paths.map((path) => basename(path))
  const first = closure(Object.keys(outputs).filter((path) => /^assets\/main-\w+\.js$/.test(path)))
  const views = new Set(first.flatMap((path) => imported(path, 'dynamic-import')))
  return {
    firstScripts: names(first),
    viewScripts: Object.fromEntries([...views].map((view) => [basename(view), names(closure([...first, view]))])),
  }
}

/** Writes the page with the addresses of its files. */
function writePage(folder: string, [entry, ...others]: readonly string[], licences: string): void {
  const styles = readdirSync(join(folder, 'assets')).filter((name) => extname(name) === '.css')
  const icon = writeNamed(folder, 'icon.svg', readFileSync(join(CONSOLE, 'icon.svg')))
  const lines = [
    `<link rel="icon" type="image/svg+xml" href="/${icon}" />`,
    `<link rel="license" type="text/plain" href="/${licences}" />`,
    ...styles.map((name) => `<link rel="stylesheet" href="/assets/${name}" />`),
    ...others.map((name) => `<link rel="modulepreload" href="/assets/${name}" />`),
    `<script type="module" src="/assets/${entry}"></script>`,
  ]
  const page = readFileSync(join(CONSOLE, 'index.html'), 'utf8')
  if (!page.includes(ASSETS_PLACE)) throw new Error('index.html has no place for the addresses of its files.')
  writeFileSync(join(folder, 'index.html'), page.replace(ASSETS_PLACE, lines.map((line) => `    ${line}\n`).join('')))
}

/** Writes a file under a name with the hash of its content. Returns its path from the folder. */
function writeNamed(folder: string, name: string, content: string | Buffer): string {
  const { name: stem, ext } = parse(name)
  const path = `assets/${stem}-${hash('sha256', content, 'hex').slice(0, HASH_CHARS)}${ext}`
  writeFileSync(join(folder, path), content)
  return path
}

/** Writes the compressed forms of every file beside it, as small as they get: each is made once and sent often. */
async function compressAll(folder: string): Promise<Record<string, FileSize>> {
  const paths = ['index.html', ...readdirSync(join(folder, 'assets')).map((name) => `assets/${name}`)]
  const sizes = await Promise.all(paths.map(async (path) => [path, await compressFile(join(folder, path))] as const))
  return Object.fromEntries(sizes)
}

async function compressFile(path: string): Promise<FileSize> {
  const plain = readFileSync(path)
  const params = { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY }
  const [br, zipped] = await Promise.all([
    compressBrotli(plain, { params: { ...params, [constants.BROTLI_PARAM_SIZE_HINT]: plain.length } }),
    compressGzip(plain, { level: constants.Z_BEST_COMPRESSION }),
  ])
  writeFileSync(`${path}.br`, br)
  writeFileSync(`${path}.gz`, zipped)
  return { plain: plain.length, br: br.length, gzip: zipped.length }
}

/** Puts the draft in place of the folder. Of two builds at the same time the later one wins. */
function replaceFolder(folder: string, draft: string): void {
  const old = `${draft}-old`
  try {
    if (existsSync(folder)) renameSync(folder, old)
    renameSync(draft, folder)
  } catch (error) {
    // Another build came first. Its bundle is one of the same sources, or the next build replaces it.
    if (!['ENOTEMPTY', 'EEXIST', 'ENOENT'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error
  } finally {
    rmSync(old, { recursive: true, force: true })
  }
}

/**
 * Returns the compressed size in bytes of all scripts that a visit loads before its first view is usable, for the view
 * with the most.
 */
export function firstPageBytes({ firstScripts, viewScripts, sizes }: BuiltConsole): number {
  const visits = [firstScripts, ...Object.values(viewScripts)]
  const bytes = visits.map((names) => names.reduce((sum, name) => sum + sizes[`assets/${name}`]!.br, 0))
  return Math.max(...bytes)
}
