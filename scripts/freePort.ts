import { createServer, type AddressInfo } from 'node:net'
import { StartupError } from '@bezel/protocol'

/** Returns `port` if it is free, or any free port for 0. Throws a `StartupError` that names the setting to change. */
export async function freePort(of: { setting: string; host: string; port: number }): Promise<number> {
  const { promise: listening, resolve, reject } = Promise.withResolvers<void>()
  const probe = createServer()
  probe.once('error', reject)
  probe.listen({ host: of.host, port: of.port, exclusive: true }, resolve)
  try {
    await listening
  } catch (error) {
    throw portError(error as NodeJS.ErrnoException, of)
  }
  const { port } = probe.address() as AddressInfo
  await new Promise((done) => probe.close(done))
  return port
}

function portError(error: NodeJS.ErrnoException, of: { setting: string; host: string; port: number }): Error {
  if (error.code === 'EADDRINUSE') {
    return new StartupError(
      `Port ${of.port} is in use: stop the program that has it or set ${of.setting} to another one (0 = any free port).`,
    )
  }
  return new StartupError(
    `Port ${of.port} on ${JSON.stringify(of.host)} can't be used (${error.code}): change ${of.setting} or HOST.`,
  )
}
