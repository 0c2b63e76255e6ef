import process from 'node:process'
import { setFlagsFromString } from 'node:v8'
import { refuseArguments, runProgram } from '@bezel/protocol'
import { readDevnetConfig } from './config.ts'

// Five chains fit in 300 MB instead of 400: EDR's allocator gives freed memory back after 20 ms instead of keeping it for the next trace
// (0 ms saves another 50 MB and costs a start half a second), and the heap does not keep what a start left behind. Before the rest is
// loaded, because it only counts from then on.
process.env.MIMALLOC_PURGE_DELAY ??= '20'
setFlagsFromString('--optimize-for-size')
setFlagsFromString('--max-semi-space-size=2')

await runProgram(process, async () => {
  refuseArguments(process.argv)
  const { run } = await import('./run.ts')
  const program = await run(readDevnetConfig(process.env))
  // As a child it leaves the talking to its parent.
  if (process.send === undefined) console.error(`Local chain at ${program.url}`)
  return program
})
