import { standInProgram } from './standInProgram.ts'

await standInProgram('CHAIN', 'DEVNET_PORT')
