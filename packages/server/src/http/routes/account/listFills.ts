import { FillPageSchema } from '@bezel/protocol'
import { listFills, type FillCursor } from '../../../store/fillStore.ts'
import { PAGE_QUERY, pageOf, pageQuery, type CursorFormat } from '../../parameters.ts'
import { ownAccount, type AccountContext } from './ownAccount.ts'
import { defineRoute, JSON_TYPE } from '../../route.ts'

const CURSOR_PATTERN = /^f(0|[1-9]\d{0,14})\.(0|[1-9]\d{0,14})$/

/**
 * A cursor is the block number and log index of the last fill of a page, so it stays valid when newer blocks are
 * reorganised.
 */
const CURSOR: CursorFormat<FillCursor> = {
  toText: ({ blockNumber, logIndex }) => `f${blockNumber}.${logIndex}`,
  fromText: (text) => {
    const [, blockNumber, logIndex] = CURSOR_PATTERN.exec(text) ?? []
    if (blockNumber === undefined || logIndex === undefined) return undefined
    return { blockNumber: Number(blockNumber), logIndex: Number(logIndex) }
  },
}

export const listFillsRoute = defineRoute({
  method: 'GET',
  path: '/v1/:chain/account/:address/fills',
  operationId: 'listFills',
  tag: 'Account',
  access: 'read',
  summary: 'Lists the executions, and the refusals that cost something, newest first',
  description:
    'The books of the account: fees, funding, deposits and payouts of each entry add up to the last unit. Read page after page with `cursor` until `nextCursor` is null.',
  errors: ['TRADER_MISMATCH'],
  query: PAGE_QUERY,
  responses: { 200: FillPageSchema },
  async handler(context: AccountContext, request, reply) {
    const { chain, trader } = ownAccount(context, request)
    const { cursor, limit } = pageQuery(request.query, CURSOR)
    const fills = await listFills(context.store.read, { chain, trader, cursor, limit: limit + 1 })
    const { items, nextCursor } = pageOf(fills, limit, (item) => item.cursor, CURSOR)
    return reply.type(JSON_TYPE).send(JSON.stringify({ data: items.map(({ fill }) => fill), nextCursor }))
  },
})
