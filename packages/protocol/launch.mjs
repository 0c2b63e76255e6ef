// Starts a command on whatever node the shell has: this file is plain JavaScript for node 20 or newer. The source is
// TypeScript, which node runs from version 24 on; an older node hands over to the one that is installed beside the
// packages.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import module from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const MIN_NODE_MAJOR = 24

/**
 * Runs the module at `main`, a URL. `name` is the command for messages, and `self` the URL of the file that the shell
 * started.
 */
export async function launch({ name, self, main }) {
  if (Number(process.versions.node.split('.')[0]) >= MIN_NODE_MAJOR) {
    // Caches the compiled source, which halves the time of every start after the first.
    module.enableCompileCache()
    await import(main)
    return
  }
  const node = installedNode(dirname(fileURLToPath(self)))
  if (node !== undefined) return handOver(name, node, fileURLToPath(self))
  console.error(
    `${name} needs node ${MIN_NODE_MAJOR} or newer and this is ${process.version}: run npm start once in the repository (on Linux it brings its own node), or install node ${MIN_NODE_MAJOR}.`,
  )
  process.exitCode = 1
}

/** Finds `node_modules/.bin/node` in this folder or in one above it. */
function installedNode(folder) {
  const found = join(folder, 'node_modules', '.bin', 'node')
  if (existsSync(found)) return found
  const above = dirname(folder)
  return above === folder ? undefined : installedNode(above)
}

function handOver(name, node, file) {
  const child = spawn(node, [file, ...process.argv.slice(2)], { stdio: 'inherit' })
  // Both processes get the Ctrl-C of a terminal, and the child answers it. Other signals reach this process alone.
  process.on('SIGINT', () => {})
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  child.once('error', (error) => {
    console.error(`${name} could not be started with ${node}: ${error.message}. Install node ${MIN_NODE_MAJOR}.`)
    process.exitCode = 1
  })
  child.once('close', (code, signal) => {
    process.exitCode = code ?? (signal === 'SIGINT' ? 130 : 1)
  })
}
