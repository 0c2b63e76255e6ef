import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'

export const REQUEST_ID_HEADER = 'x-request-id'

/** Narrow, because the id is echoed into a header and written to the log. */
const REQUEST_ID_PATTERN = /^[A-Za-z0-9._-]{1,64}$/

/** The caller's own id where it is well-formed, else a fresh one. */
export function requestIdOf(request: Pick<IncomingMessage, 'headers'>): string {
  const given = request.headers[REQUEST_ID_HEADER]
  return typeof given === 'string' && REQUEST_ID_PATTERN.test(given) ? given : randomUUID()
}
