import process from 'node:process'
import { buildConsole, firstPageBytes } from './buildConsole.ts'

/** Runs `npm run console`: builds the console where its sources have changed, and prints the sizes of its files. */
const startMs = Date.now()
let isNew = false
try {
  const built = await buildConsole({ onBuild: () => (isNew = true) })
  for (const [path, { plain, br, gzip }] of Object.entries(built.sizes)) {
    if (path.endsWith('.txt')) continue
    console.log(`${kilobytes(br)} br ${kilobytes(gzip)} gzip ${kilobytes(plain)}  ${path}`)
  }
  const state = isNew ? `built in ${((Date.now() - startMs) / 1000).toFixed(1)} s` : 'up to date'
  console.log(
    `The console is ${state}: ${kilobytes(firstPageBytes(built)).trim()} of script for the first page, compressed.`,
  )
} catch (error) {
  console.error(`The console could not be built: ${(error as Error).message}`)
  process.exitCode = 1
}

function kilobytes(bytes: number): string {
  return `${(bytes / 1000).toFixed(1).padStart(7)} KB`
}
