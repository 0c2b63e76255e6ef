import type { AddressInfo } from 'node:net'
import { httpUrl, StartupError } from '@bezel/protocol'
import type { FastifyInstance } from 'fastify'

/** Connections that may wait to be taken: after an outage all clients come back at once. */
const BACKLOG = 4_096

/** Starts listening and says where. Throws a `StartupError` when the port can't be had. */
export async function listen(app: FastifyInstance, at: { host: string; port: number }): Promise<string> {
  try {
    await app.listen({ host: at.host, port: at.port, backlog: BACKLOG })
  } catch (error) {
    throw listenError(error as NodeJS.ErrnoException, at)
  }
  const { port } = app.server.address() as AddressInfo
  return httpUrl(at.host, port)
}

function listenError(error: NodeJS.ErrnoException, at: { host: string; port: number }): Error {
  switch (error.code) {
    case 'EADDRINUSE':
      return new StartupError(`Port ${at.port} is in use: stop the program that has it or set PORT to another one.`)
    case 'EACCES':
      return new StartupError(`Port ${at.port} needs rights that this process lacks: set PORT to one above 1023.`)
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return new StartupError(`HOST is ${JSON.stringify(at.host)}, which is no address of this machine: correct it.`)
    default:
      return error
  }
}
