import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

/** A fixed address for a service that restarts on another port, and a network that can be cut. */
export interface SdkStreamProxy {
  readonly url: string
  /** Returns the number of connected WebSockets. */
  openStreams(): number
  /** Cuts the WebSockets without a close frame, and nothing else. */
  cutStreams(): void
  close(): Promise<void>
}

/** Passes bytes on to the current `target`, an http address. */
export async function startSdkStreamProxy(target: () => string): Promise<SdkStreamProxy> {
  const sockets = new Set<Socket>()
  const streams = new Set<Socket>()

  const server = createServer((socket) => {
    const upstream = connect(Number(new URL(target()).port), '127.0.0.1')
    sockets.add(socket)
    // Checks all bytes, not only the first: a connection that carried requests can become a stream.
    socket.on('data', (bytes) => {
      if (/^upgrade: websocket/im.test(bytes.toString('latin1'))) streams.add(socket)
    })
    for (const [one, other] of [
      [socket, upstream],
      [upstream, socket],
    ] as const) {
      one.on('error', () => other.destroy())
      one.on('close', () => other.destroy())
      one.pipe(other)
    }
    socket.on('close', () => {
      sockets.delete(socket)
      streams.delete(socket)
    })
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    openStreams: () => streams.size,
    cutStreams: () => streams.forEach((socket) => socket.destroy()),
    close: () =>
      new Promise((closed) => {
        sockets.forEach((socket) => socket.destroy())
        server.close(() => closed())
      }),
  }
}
