import process from 'node:process'
import { runProgram } from '@bezel/protocol'
import { startEverything } from '../startEverything.ts'

// `npm start` with stand-ins for both programs, to test how it starts and stops them.
const MAINS = {
  chain: new URL('./standInChain.ts', import.meta.url),
  service: new URL('./standInService.ts', import.meta.url),
}

await runProgram(process, async (stop) => {
  const deployment = await startEverything(MAINS, process.env, stop)
  console.log(`READY ${deployment.url}`)
  return deployment
})
