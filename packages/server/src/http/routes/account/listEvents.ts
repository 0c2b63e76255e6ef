import { EventPageSchema, type ChainSlug } from '@bezel/protocol'
import type { AccountLog } from '../../../journal/accountLog.ts'
import { eventEntry, readPage } from '../../../journal/readPage.ts'
import { countOf, numberQuery, wholeNumber } from '../../parameters.ts'
import { ownAccount, type AccountContext } from './ownAccount.ts'
import { defineRoute, JSON_TYPE } from '../../route.ts'

export interface EventsContext extends Pick<AccountContext, 'chains' | 'isKnown'> {
  readonly logOf: (chain: ChainSlug) => Pick<AccountLog, 'read' | 'lastSeq'>
}

const QUERY = {
  after: wholeNumber({
    min: 0,
    max: Number.MAX_SAFE_INTEGER,
    byDefault: 0,
    description: '`seq` of the last event that the caller knows; the answer starts after it.',
  }),
  limit: countOf(100),
}

/**
 * Most bytes of one page; a longer page is cut to fewer events than `limit`. Pages are held in memory, and the events
 * of an account with many agents are long.
 */
const MAX_PAGE_BYTES = 2_000_000

export const listEventsRoute = defineRoute({
  method: 'GET',
  path: '/v1/:chain/account/:address/events',
  operationId: 'listEvents',
  tag: 'Account',
  access: 'read',
  summary: 'Lists the events of an account, oldest first',
  description:
    'It is the log behind the private channels of the WebSocket: every change of an order, a position or the account, numbered without a hole. Ask with `after` the last number that you know.',
  errors: ['TRADER_MISMATCH'],
  query: QUERY,
  responses: { 200: EventPageSchema },
  async handler(context: EventsContext, request, reply) {
    const { chain, trader } = ownAccount(context, request)
    const page = numberQuery(request.query, QUERY)
    const log = context.logOf(chain)
    const { events } = await readPage(log, trader, { ...page, maxBytes: MAX_PAGE_BYTES })
    const data = events.map(eventEntry).join(',')
    // `lastSeq` is read last, so that it is never below the `seq` of an event in the page.
    return reply.type(JSON_TYPE).send(`{"data":[${data}],"lastSeq":${await log.lastSeq(trader)}}`)
  },
})
