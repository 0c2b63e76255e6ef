import process from 'node:process'
import { runOperator } from './operator.ts'

const { env, stdout, stderr } = process
const argv = process.argv.slice(2)

if (argv[0] === 'start') {
  // Loaded only here, so that the other commands answer sooner.
  const { runService } = await import('./runService.ts')
  await runService(argv.slice(1))
} else {
  process.exitCode = await runOperator({ argv, env, stdout, stderr, now: Date.now })
}
