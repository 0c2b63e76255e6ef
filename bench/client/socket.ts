import { once } from 'node:events'
import { connect } from 'node:net'
import type { Socket } from 'node:net'

// Bare keep-alive HTTP for the clients of benchmarks, so that the server's cost is measured and not the client's.

const HEADER_END = Buffer.from('\r\n\r\n')

export async function openSocket(port: number): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  await once(socket, 'connect')
  return socket
}

/** Sends ready-made bytes and returns the whole answer. */
export function exchange(socket: Socket, request: Buffer): Promise<Buffer> {
  return new Promise((resolve) => {
    let received: Buffer = Buffer.alloc(0)
    const onData = (chunk: Buffer): void => {
      received = received.length === 0 ? chunk : Buffer.concat([received, chunk])
      if (!isComplete(received)) return
      socket.off('data', onData)
      resolve(received)
    }
    socket.on('data', onData)
    socket.write(request)
  })
}

function isComplete(received: Buffer): boolean {
  const headEnd = received.indexOf(HEADER_END)
  if (headEnd < 0) return false
  const length = /content-length: (\d+)/i.exec(received.toString('latin1', 0, headEnd))?.[1]
  return received.length >= headEnd + HEADER_END.length + Number(length)
}
