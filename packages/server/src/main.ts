import process from 'node:process'
import { refuseArguments, runProgram } from '@bezel/protocol'
import { readServerConfig } from './settings/config.ts'
import { run } from './run.ts'

await runProgram(process, async () => {
  refuseArguments(process.argv)
  return run(readServerConfig(process.env))
})
