import process from 'node:process'
import { setFlagsFromString } from 'node:v8'
import { runProgram } from '@bezel/protocol'
import { readDevnetConfig } from './config.ts'

// The chains live in EDR's memory, not in the heap; without these the heap would keep 100 MB of what a start left behind. Before the rest
// is loaded, because they only count from then on.
setFlagsFromString('--optimize-for-size')
setFlagsFromString('--max-semi-space-size=2')

await runProgram(process, async () => {
  const { run } = await import('./run.ts')
  const program = await run(readDevnetConfig(process.env))
  // As a child it leaves the talking to its parent.
  if (process.send === undefined) console.error(`Local chain at ${program.url}`)
  return program
})
