import process from 'node:process'
import { runProgram } from '@bezel/protocol'
import { readDevnetConfig } from './config.ts'
import { run } from './run.ts'

await runProgram(process, async () => {
  const program = await run(readDevnetConfig(process.env))
  console.error(`Local chain at ${program.url}`)
  return program
})
