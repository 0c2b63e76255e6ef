import { FillPageSchema } from '@bezel/protocol'
import type { FastifyInstance } from 'fastify'
import { listFills as readFills, type FillCursor } from '../../../store/fillStore.ts'
import { requirePrivateRead } from '../../hooks/privateRead.ts'
import { pageOf, pageQuery, type CursorFormat } from '../../pageCursor.ts'
import { JSON_TYPE } from '../markets/marketsOf.ts'
import { ownAccount, type AccountContext, type AccountRoute } from './accountRoutes.ts'

const CURSOR_PATTERN = /^f(0|[1-9]\d{0,14})\.(0|[1-9]\d{0,14})$/

/** The place on the chain of the last fill of a page: it stays right when newer blocks are taken back. */
const CURSOR: CursorFormat<FillCursor> = {
  toText: ({ blockNumber, logIndex }) => `f${blockNumber}.${logIndex}`,
  fromText: (text) => {
    const [, blockNumber, logIndex] = CURSOR_PATTERN.exec(text) ?? []
    if (blockNumber === undefined || logIndex === undefined) return undefined
    return { blockNumber: Number(blockNumber), logIndex: Number(logIndex) }
  },
}

/** GET /v1/{chain}/account/{address}/fills: every execution, newest first, in pages. */
export function listFills(app: FastifyInstance, context: AccountContext): void {
  const schema = { operationId: 'listFills', response: { 200: FillPageSchema } }
  app.get<AccountRoute & { Querystring: Record<string, unknown> }>(
    '/v1/:chain/account/:address/fills',
    { schema, preValidation: requirePrivateRead(context, 'listFills') },
    async (request, reply) => {
      const { chain, trader } = ownAccount(context, request)
      const { cursor, limit } = pageQuery(request.query, CURSOR)
      const fills = await readFills(context.store.read, { chain, trader, cursor, limit: limit + 1 })
      const { items, nextCursor } = pageOf(fills, limit, (item) => item.cursor, CURSOR)
      return reply.type(JSON_TYPE).send(JSON.stringify({ data: items.map(({ fill }) => fill), nextCursor }))
    },
  )
}
