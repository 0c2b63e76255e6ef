// Runs an example with any installed node: node examples/run.mjs firstTrade
// The SDK is TypeScript here, which node runs from version 24 on. An older node (20 or newer) hands over to the node
// that `npm start` has installed.
import { spawn } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const MIN_NODE_MAJOR = 24
/** Files in this folder that are not examples. */
const PARTS = ['run', 'devnet']

const here = new URL('./', import.meta.url)
const bundled = fileURLToPath(new URL('../node_modules/.bin/node', here))
const names = readdirSync(here)
  .map((file) => file.replace(/\.mjs$/, ''))
  .filter((name) => !PARTS.includes(name))
const [name, ...rest] = process.argv.slice(2)

if (!names.includes(name)) {
  fail(`Which example? node examples/run.mjs <name>, where name is one of ${names.toSorted().join(', ')}.`)
} else if (Number(process.versions.node.split('.')[0]) >= MIN_NODE_MAJOR) {
  await runHere()
} else if (existsSync(bundled)) {
  handOver()
} else {
  fail(
    `The examples need node ${MIN_NODE_MAJOR} and this is ${process.version}: run npm start once (on Linux it brings its own node), or install node ${MIN_NODE_MAJOR}.`,
  )
}

async function runHere() {
  const file = new URL(`${name}.mjs`, here)
  process.argv = [process.argv[0], fileURLToPath(file), ...rest]
  try {
    await import(file)
  } catch (error) {
    // Errors of the SDK say what to do; others are mistakes of a program, whose stack matters.
    const isMisuse = String(error.code).startsWith('ERR_PARSE_ARGS')
    fail('retryable' in error ? `${error.code}: ${error.message}` : isMisuse ? error.message : error)
  }
}

function handOver() {
  const child = spawn(bundled, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], { stdio: 'inherit' })
  // A terminal sends Ctrl-C to both processes, and the child may have work to finish. Other signals reach this process
  // alone.
  process.on('SIGINT', () => {})
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  child.once('error', (error) => fail(`${bundled} can't be run: ${error.message}`))
  child.once('close', (code) => {
    process.exitCode = code ?? 1
  })
}

function fail(what) {
  console.error(what)
  process.exitCode = 1
}
