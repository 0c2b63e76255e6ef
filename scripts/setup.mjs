// Runs before `npm start`, `serve`, `test`, `devnet` and `bench`, with any installed node and without packages: plain
// JavaScript, node 20 or newer. Makes node_modules match package-lock.json, and says what to do when no node can run
// Bezel. With --serve it installs only the packages of the service, without those for development.
//
// An install script is code of a stranger that runs with the rights of whoever installs, so only those of the packages
// in installScripts.json are run. The file .npmrc can't say that: it would switch off our own scripts too.
import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { withSetupLock } from './setupLock.mjs'

const MIN_NODE_MAJOR = 24

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const lockfile = join(root, 'package-lock.json')
const modules = join(root, 'node_modules')
const stamp = join(modules, '.bezel-setup')
const { run: builtPackages } = JSON.parse(readFileSync(new URL('./installScripts.json', import.meta.url), 'utf8'))
const isForServe = process.argv.includes('--serve')
/**
 * Arguments of `npm ci` that select packages. The type checker and the test tools are needed whatever NODE_ENV says.
 */
const SELECTION = isForServe
  ? ['--omit=dev', '--workspace=@bezel/server', '--include-workspace-root']
  : ['--include=dev']
/**
 * Folders of the type checker, which no switch of npm leaves out: the service's packages name it as an optional peer.
 */
const TYPE_CHECKER = ['typescript', '@typescript']

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

/** Returns what our stamp says after an install. What is enough for everything is enough for the service. */
function stampText(forServe) {
  return forServe ? `${lockfileHash()} serve` : lockfileHash()
}

/**
 * Returns true when our own stamp, or npm's, is up to date. npm writes `.package-lock.json` last, so an interrupted
 * install has neither.
 */
function isInstalled() {
  if (!existsSync(stamp)) return isInstalledByHand()
  const found = readFileSync(stamp, 'utf8')
  return found === stampText(false) || (isForServe && found === stampText(true))
}

/** Returns true when npm was run without this script, after the last change of the lockfile, for all that is needed. */
function isInstalledByHand() {
  const npmStamp = join(modules, '.package-lock.json')
  const written = statSync(npmStamp, { throwIfNoEntry: false })
  if (written === undefined || written.mtimeMs < statSync(lockfile).mtimeMs) return false
  const installed = packagesIn(npmStamp)
  const locked = packagesIn(lockfile)
  const needed = isForServe ? locked['packages/server']?.dependencies : locked['']?.devDependencies
  return Object.keys(needed ?? {}).every((name) => `node_modules/${name}` in installed)
}

function packagesIn(file) {
  return JSON.parse(readFileSync(file, 'utf8')).packages ?? {}
}

async function installIfStillNeeded() {
  if (isInstalled()) return
  const what = isForServe ? 'the packages of the service' : 'the packages of package-lock.json'
  console.error(`Installing ${what} (npm ci), which takes up to a minute ...`)
  const startMs = Date.now()
  await npm(['ci', '--ignore-scripts', ...SELECTION])
  // Tells a setup that was killed while it built from one that npm finished by hand.
  writeFileSync(stamp, 'unfinished')
  if (isForServe) for (const name of TYPE_CHECKER) rmSync(join(modules, name), { recursive: true, force: true })
  await npm(['rebuild', '--ignore-scripts=false', ...Object.keys(builtPackages)])
  writeFileSync(stamp, stampText(isForServe))
  console.error(`Installed in ${((Date.now() - startMs) / 1000).toFixed(1)} s.`)
}

/** Runs npm. Throws a `SetupError` when it fails. */
async function npm(args) {
  const isWindows = process.platform === 'win32'
  const child = spawn('npm', [...args, '--loglevel=error'], {
    cwd: root,
    env: { ...process.env, PATH: pathWithoutModules() },
    stdio: ['ignore', 'ignore', 'inherit'],
    shell: isWindows,
  })
  const kill = () => child.kill()
  process.once('exit', kill)
  const end = await new Promise((resolve) => {
    child.once('error', (error) => resolve(error.message))
    child.once('close', (code, signal) => resolve(code === 0 ? undefined : (signal ?? `exit code ${code}`)))
  })
  process.off('exit', kill)
  if (end === undefined) return
  throw new SetupError(
    `Installing failed (npm ${args[0]}: ${end}): see npm's messages above, make sure that npm can reach its registry, and run the command again.`,
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
