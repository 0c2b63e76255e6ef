import { createConnection, type AddressInfo, type Socket } from 'node:net'
import { WebSocket } from 'ws'
import { CHAIN, startStream, type TestStream, type TestStreamOptions } from './startStream.ts'
import { listen, type StreamClient } from './streamClient.ts'

export { CHAIN, GOOD_KEY, TRADER } from './startStream.ts'

/** A stream on the loopback interface, and ways to connect to it. */
export interface StreamWorld extends TestStream {
  connect(headers?: Readonly<Record<string, string>>): Promise<StreamClient>
  /** Sends an upgrade request and returns the HTTP answer. */
  upgrade(path: string, headers?: Readonly<Record<string, string>>): Promise<string>
  /** Opens a TCP connection, with a valid handshake when `isUpgraded`. */
  raw(isUpgraded: boolean): Promise<Socket>
}

const HANDSHAKE = {
  host: '127.0.0.1',
  connection: 'Upgrade',
  upgrade: 'websocket',
  'sec-websocket-version': '13',
  'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
}

export async function startStreamWorld(options: TestStreamOptions = {}): Promise<StreamWorld> {
  const test = startStream(options)
  const { server } = test
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  const { port } = server.address() as AddressInfo
  const path = `/v1/${CHAIN}/ws`

  const raw = async (isUpgraded: boolean): Promise<Socket> => {
    const socket = createConnection(port, '127.0.0.1')
    socket.on('error', () => undefined)
    await new Promise<void>((connected) => socket.once('connect', connected))
    if (!isUpgraded) return socket
    socket.write(requestText(path, {}))
    await new Promise<void>((answered) => socket.once('data', () => answered()))
    return socket
  }

  return Object.assign(test, {
    connect: (headers = {}) =>
      listen(new WebSocket(`ws://127.0.0.1:${port}${path}`, { headers, perMessageDeflate: false })),
    async upgrade(to: string, headers = {}) {
      const socket = await raw(false)
      socket.write(requestText(to, headers))
      let text = ''
      for await (const chunk of socket) text += String(chunk)
      return text
    },
    raw,
    close: closing(test),
  })
}

/** Returns a function that closes the stream, then the server. */
function closing({ server, close }: TestStream): () => Promise<void> {
  return async () => {
    await close()
    await new Promise((closed) => {
      server.close(closed)
      server.closeAllConnections()
    })
  }
}

function requestText(path: string, headers: Readonly<Record<string, string>>): string {
  const lines = Object.entries({ ...HANDSHAKE, ...headers }).map(([name, value]) => `${name}: ${value}`)
  return `GET ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`
}
