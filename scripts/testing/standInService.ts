import { standInProgram } from './standInProgram.ts'

await standInProgram('SERVICE', 'PORT')
