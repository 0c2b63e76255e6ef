import { DAY_MS } from '@bezel/protocol'
import type { FastifyInstance } from 'fastify'
import { refuseUnknownRoute } from '../access/answerError.ts'

/** Path that RFC 9116 gives the file. */
const PATH = '/.well-known/security.txt'

/** Days for which the contact may be relied on. RFC 9116 advises less than a year. */
const VALID_DAYS = 90

/** Serves the file that says where to report a vulnerability (RFC 9116). Without a contact there is no such file. */
export function serveSecurityTxt(
  app: FastifyInstance,
  { securityContact, now }: { readonly securityContact: string | undefined; readonly now: () => number },
): void {
  app.get(PATH, async (request, reply) => {
    if (securityContact === undefined) return refuseUnknownRoute(request)
    return reply.type('text/plain; charset=utf-8').send(securityTxt(securityContact, now()))
  })
}

/** Returns the text. It expires at midnight UTC, so that it changes once a day. */
function securityTxt(contact: string, nowMs: number): string {
  const expiresMs = (Math.floor(nowMs / DAY_MS) + VALID_DAYS) * DAY_MS
  const fields = [`Contact: ${contact}`, `Expires: ${new Date(expiresMs).toISOString()}`, 'Preferred-Languages: en']
  return `${fields.join('\n')}\n`
}
