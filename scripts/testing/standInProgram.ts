import { createServer } from 'node:http'
import process from 'node:process'
import { runProgram, StartupError } from '@bezel/protocol'

/**
 * Runs a stand-in for the chain or the service: it answers 200 to everything on the port that `portSetting` names.
 * `<role>_FAILS` makes its start fail, `<role>_DIES_MS` ends it by itself, `<role>_HANGS` keeps it from stopping.
 */
export async function standInProgram(role: 'CHAIN' | 'SERVICE', portSetting: string): Promise<void> {
  const { env } = process
  await runProgram(process, async () => {
    if (env[`${role}_FAILS`]) throw new StartupError(`The ${role} says why.`)
    const dieAfterMs = env[`${role}_DIES_MS`]
    if (dieAfterMs) setTimeout(() => process.exit(7), Number(dieAfterMs))
    const server = createServer((_request, response) => response.end('{}'))
    await new Promise<void>((listening) => server.listen(Number(env[portSetting]), '127.0.0.1', listening))
    console.log(`${role} pid ${process.pid}`)
    return { url: '', close: () => (env[`${role}_HANGS`] ? new Promise(() => undefined) : Promise.resolve()) }
  })
}
