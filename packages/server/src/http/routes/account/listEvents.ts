import { EventPageSchema, type ChainSlug } from '@bezel/protocol'
import type { FastifyInstance } from 'fastify'
import type { AccountLog } from '../../../journal/accountLog.ts'
import { eventEntry } from '../../../journal/eventText.ts'
import { readPage } from '../../../journal/readPage.ts'
import { requirePrivateRead } from '../../hooks/privateRead.ts'
import { numberQuery } from '../../numberQuery.ts'
import { JSON_TYPE } from '../markets/marketsOf.ts'
import { ownAccount, type AccountContext, type AccountRoute } from './accountRoutes.ts'

export interface EventsContext extends AccountContext {
  readonly logOf: (chain: ChainSlug) => Pick<AccountLog, 'read' | 'lastSeq'>
}

const QUERY = {
  after: { min: 0, max: Number.MAX_SAFE_INTEGER, byDefault: 0 },
  limit: { min: 1, max: 500, byDefault: 100 },
}

/** Then an answer has fewer events than were asked for: they are held in memory, and an account with many agents has long ones. */
const MAX_PAGE_BYTES = 2_000_000

/** GET /v1/{chain}/account/{address}/events: the log that the private channels of the stream tell, oldest first. */
export function listEvents(app: FastifyInstance, context: EventsContext): void {
  const schema = { operationId: 'listEvents', response: { 200: EventPageSchema } }
  app.get<AccountRoute & { Querystring: Record<string, unknown> }>(
    '/v1/:chain/account/:address/events',
    { schema, preValidation: requirePrivateRead(context, 'listEvents') },
    async (request, reply) => {
      const { chain, trader } = ownAccount(context, request)
      const page = numberQuery(request.query, QUERY)
      const log = context.logOf(chain)
      const { events } = await readPage(log, trader, { ...page, maxBytes: MAX_PAGE_BYTES })
      const data = events.map(eventEntry).join(',')
      // Read last, so that it is never below an event of the page.
      return reply.type(JSON_TYPE).send(`{"data":[${data}],"lastSeq":${await log.lastSeq(trader)}}`)
    },
  )
}
