// Runs before `npm start`, `test`, `devnet` and `bench`, with any installed node and without packages: plain
// JavaScript, node 20 or newer. Makes node_modules match package-lock.json, and says what to do when no node can run
// Bezel.
import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { withSetupLock } from './setupLock.mjs'

const MIN_NODE_MAJOR = 24

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const lockfile = join(root, 'package-lock.json')
const modules = join(root, 'node_modules')
const stamp = join(modules, '.bezel-setup')

/** An error whose message says what to do. Defined above its first use, because this file runs from top to bottom. */
class SetupError extends Error {}

// An exit runs the hooks that end npm and release the lock; the default action of a signal would not.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => process.exit(1))

try {
  if (!isInstalled()) await withSetupLock(root, installIfStillNeeded)
  requireNode()
} catch (error) {
  console.error(error instanceof SetupError ? error.message : error)
  process.exitCode = 1
}

function lockfileHash() {
  return createHash('sha256').update(readFileSync(lockfile)).digest('hex')
}

/**
 * Returns true when our own stamp, or npm's, is up to date. npm writes `.package-lock.json` last, so an interrupted
 * install has neither.
 */
function isInstalled() {
  if (existsSync(stamp)) return readFileSync(stamp, 'utf8') === lockfileHash()
  const npmStamp = statSync(join(modules, '.package-lock.json'), { throwIfNoEntry: false })
  return npmStamp !== undefined && npmStamp.mtimeMs >= statSync(lockfile).mtimeMs
}

async function installIfStillNeeded() {
  if (isInstalled()) return
  console.error('Installing the packages of package-lock.json (npm ci), which takes up to a minute ...')
  const startMs = Date.now()
  await npmCi()
  writeFileSync(stamp, lockfileHash())
  console.error(`Installed in ${((Date.now() - startMs) / 1000).toFixed(1)} s.`)
}

/** Runs `npm ci`. `--include=dev`: the type checker and the test tools are needed whatever NODE_ENV says. */
async function npmCi() {
  const isWindows = process.platform === 'win32'
  const child = spawn('npm', ['ci', '--include=dev', '--loglevel=error'], {
    cwd: root,
    env: { ...process.env, PATH: pathWithoutModules() },
    stdio: ['ignore', 'ignore', 'inherit'],
    shell: isWindows,
  })
  process.once('exit', () => child.kill())
  const end = await new Promise((resolve) => {
    child.once('error', (error) => resolve(error.message))
    child.once('close', (code, signal) => resolve(code === 0 ? undefined : (signal ?? `exit code ${code}`)))
  })
  if (end === undefined) return
  throw new SetupError(
    `Installing failed (npm ci: ${end}): see npm's messages above, make sure that npm can reach its registry, and run the command again.`,
  )
}

/** Returns PATH without node_modules: npm must not run on a node inside the folder that `npm ci` deletes. */
function pathWithoutModules() {
  const isOutside = (entry) => !entry.startsWith(modules)
  return (process.env.PATH ?? '').split(delimiter).filter(isOutside).join(delimiter)
}

/**
 * Throws without a suitable node. npm puts node_modules/.bin first into PATH, so the next script runs on the node
 * there.
 */
function requireNode() {
  if (majorOf(process.version) >= MIN_NODE_MAJOR) return
  const bundled = spawnSync(join(modules, '.bin', 'node'), ['--version'], { encoding: 'utf8' })
  if (bundled.status === 0 && majorOf(bundled.stdout) >= MIN_NODE_MAJOR) return
  throw new SetupError(
    `Bezel needs node ${MIN_NODE_MAJOR} or newer and this is ${process.version} on ${process.platform} ${process.arch}: only on Linux (x64 or arm64, glibc) it brings its own, so install node ${MIN_NODE_MAJOR} and run the command again.`,
  )
}

function majorOf(version) {
  return Number(/^v(\d+)\./.exec(version.trim())?.[1])
}
