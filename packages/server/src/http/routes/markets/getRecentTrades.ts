import { Closed, RecentTradeSchema } from '@bezel/protocol'
import { Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import { listTrades } from '../../../market/recentTrades.ts'
import type { Store } from '../../../store/sql.ts'
import { numberQuery } from '../../numberQuery.ts'
import { servedChainOf } from '../../../access/servedChainOf.ts'
import { JSON_TYPE, marketsOf, type MarketsContext } from './marketsOf.ts'

const TradeList = Closed({ data: Type.Array(RecentTradeSchema) })

const QUERY = { limit: { min: 1, max: 500, byDefault: 100 } }

/** What the route of trades answers from. */
export interface TradesContext extends MarketsContext {
  readonly store: Pick<Store, 'read'>
}

interface TradesRoute {
  readonly Params: { readonly chain: string; readonly symbol: string }
  readonly Querystring: Record<string, unknown>
}

/** GET /v1/{chain}/markets/{symbol}/trades: what was executed last, newest first. It needs no price, so a silent feed does not stop it. */
export function getRecentTrades(app: FastifyInstance, of: TradesContext): void {
  const schema = { operationId: 'getRecentTrades', response: { 200: TradeList } }
  app.get<TradesRoute>('/v1/:chain/markets/:symbol/trades', { schema }, async ({ params, query }, reply) => {
    const { limit } = numberQuery(query, QUERY)
    const { slug } = servedChainOf(of.chains, params.chain)
    const { pairIndex } = marketsOf(of, slug).listed(params.symbol)
    const data = await listTrades(of.store.read, { chain: slug, pairIndex, limit })
    return reply.type(JSON_TYPE).send(JSON.stringify({ data }))
  })
}
