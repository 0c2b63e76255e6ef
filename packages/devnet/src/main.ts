import process from 'node:process'
import { runProgram } from '@bezel/protocol'
import { readDevnetConfig } from './config.ts'
import { run } from './run.ts'

await runProgram(process, async () => {
  const program = await run(readDevnetConfig(process.env))
  // As a child it leaves the talking to its parent.
  if (process.send === undefined) console.error(`Local chain at ${program.url}`)
  return program
})
