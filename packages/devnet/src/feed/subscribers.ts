import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { WebSocket, WebSocketServer } from 'ws'

/** The sockets of one version of the wire format. */
export interface Subscribers {
  readonly count: number
  /** Completes the upgrade; the socket gets every frame from now on. */
  add(request: IncomingMessage, socket: Duplex, head: Buffer): void
  write(frame: Buffer): void
  close(): void
}

/** A reader that leaves this much unread is cut: about three minutes of frames. */
const MAX_UNREAD_BYTES = 1_000_000

/** Clients have nothing to say here. */
const MAX_CLIENT_MESSAGE_BYTES = 1_024

/** A client that does not answer our closing frame by then is cut. */
const CLOSE_TIMEOUT_MS = 1_000

/** Frames go straight to the TCP sockets, past the library's sender: it would build the same frame anew for each of them. */
export function createSubscribers(maxUnreadBytes = MAX_UNREAD_BYTES): Subscribers {
  const upgrader = new WebSocketServer({
    noServer: true,
    perMessageDeflate: false,
    maxPayload: MAX_CLIENT_MESSAGE_BYTES,
  })
  const sockets = new Map<WebSocket, Duplex>()
  return {
    get count() {
      return sockets.size
    },
    add: (request, socket, head) =>
      upgrader.handleUpgrade(request, socket, head, (client) => {
        sockets.set(client, socket)
        client.on('close', () => sockets.delete(client))
        client.on('error', () => client.terminate())
      }),
    write: (frame) => {
      for (const [client, socket] of sockets) {
        if (socket.writableLength > maxUnreadBytes) client.terminate()
        else if (client.readyState === WebSocket.OPEN) socket.write(frame)
      }
    },
    close: () => {
      for (const client of sockets.keys()) closeSoon(client)
      upgrader.close()
    },
  }
}

function closeSoon(client: WebSocket): void {
  client.close(1001, 'the feed stops')
  setTimeout(() => client.terminate(), CLOSE_TIMEOUT_MS).unref()
}
