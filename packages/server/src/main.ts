import process from 'node:process'
import { describeSettings, refuseArguments, runProgram } from '@bezel/protocol'
import { readServerConfig, SERVER_SETTINGS } from './settings/config.ts'
import { run } from './run.ts'

if (process.argv.includes('--help')) {
  console.log('npm run serve runs the service alone. Settings are environment variables:\n')
  console.log(describeSettings(SERVER_SETTINGS))
} else {
  await runProgram(process, async () => {
    refuseArguments(process.argv)
    return run(readServerConfig(process.env))
  })
}
