import process from 'node:process'
import { setFlagsFromString } from 'node:v8'
import { refuseArguments, runProgram } from '@bezel/protocol'
import { readDevnetConfig } from './config.ts'

// With these settings five chains fit in 300 MB instead of 400: EDR's allocator returns freed memory after 20 ms
// instead of keeping it for the next trace (0 ms saves another 50 MB and costs half a second at the start), and the
// heap does not keep what the start left behind. They are set before the rest is loaded, because they only count from
// then on.
process.env.MIMALLOC_PURGE_DELAY ??= '20'
setFlagsFromString('--optimize-for-size')
setFlagsFromString('--max-semi-space-size=2')

await runProgram(process, async () => {
  refuseArguments(process.argv)
  const { runDevnet } = await import('./run.ts')
  const program = await runDevnet(readDevnetConfig(process.env))
  // A child leaves the messages to its parent.
  if (process.send === undefined) console.error(`Local chain at ${program.url}`)
  return program
})
