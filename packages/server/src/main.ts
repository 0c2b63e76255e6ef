import process from 'node:process'
import { runService } from './runService.ts'

await runService(process.argv.slice(2))
