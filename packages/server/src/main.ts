import process from 'node:process'
import { runProgram } from '@bezel/protocol'
import { readServerConfig } from './config.ts'
import { run } from './run.ts'

await runProgram(process, () => run(readServerConfig(process.env)))
