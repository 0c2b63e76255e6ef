import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

const bySocket = new WeakMap<Socket, Set<ServerResponse>>()

/** Remembers which requests of a connection have no answer yet: a client may send the next one before it has the last answer. */
export function watchUnanswered(server: Server): void {
  server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    const unanswered = bySocket.get(socket) ?? new Set()
    bySocket.set(socket, unanswered)
    unanswered.add(response)
    response.once('close', () => unanswered.delete(response))
  })
}

/** Resolves when every request that arrived whole on this connection is answered; `undefined` when that is so already. */
export function whenAnswered(socket: Socket): Promise<unknown> | undefined {
  const whole = [...(bySocket.get(socket) ?? [])].filter(({ req }) => req.complete)
  if (whole.length === 0) return undefined
  return Promise.all(whole.map((response) => new Promise((resolve) => response.once('close', resolve))))
}
