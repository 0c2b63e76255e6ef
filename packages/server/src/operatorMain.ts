import process from 'node:process'
import { runOperator } from './operator.ts'

const { env, stdout, stderr } = process

process.exitCode = await runOperator({ argv: process.argv.slice(2), env, stdout, stderr, now: Date.now })
