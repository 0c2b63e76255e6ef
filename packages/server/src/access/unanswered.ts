import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

const RESPONSES = Symbol('responses')

/** A connection with what was asked on it; a field, because a weak map costs every request more. */
type AskedSocket = Socket & { [RESPONSES]?: ServerResponse[] }

/**
 * Remembers which requests of a connection have no answer yet: a client may send the next one before it has the last answer. Answered ones
 * are dropped when the next request comes, because a listener for each would cost every request something.
 */
export function watchUnanswered(server: Server): void {
  server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    const asked: AskedSocket = socket
    const earlier = asked[RESPONSES]
    if (earlier === undefined || earlier.every(isOver)) asked[RESPONSES] = [response]
    else earlier.push(response)
  })
}

function isOver(response: ServerResponse): boolean {
  return response.writableFinished || response.destroyed
}

/** Does `next` once every request that arrived whole on this connection is answered: at once when that is so already. */
export function afterAnswers(socket: Socket, next: () => void): void {
  const whole = ((socket as AskedSocket)[RESPONSES] ?? []).filter(
    (response) => response.req.complete && !isOver(response),
  )
  let left = whole.length
  if (left === 0) return next()
  for (const response of whole) {
    response.once('close', () => {
      left -= 1
      if (left === 0) next()
    })
  }
}
