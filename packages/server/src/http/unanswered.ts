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

/** Does `next` once every request that arrived whole on this connection is answered: at once when that is so already. */
export function afterAnswers(socket: Socket, next: () => void): void {
  const whole = [...(bySocket.get(socket) ?? [])].filter(({ req }) => req.complete)
  let left = whole.length
  if (left === 0) return next()
  for (const response of whole) {
    response.once('close', () => {
      left -= 1
      if (left === 0) next()
    })
  }
}
