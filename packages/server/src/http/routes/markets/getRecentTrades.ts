import { Closed, RecentTradeSchema } from '@bezel/protocol'
import { Type } from '@sinclair/typebox'
import { servedChainOf } from '../../../chain/servedChain.ts'
import { listTrades } from '../../../market/recentTrades.ts'
import type { Store } from '../../../store/sql.ts'
import { countOf, numberQuery } from '../../parameters.ts'
import { defineRoute, JSON_TYPE } from '../../route.ts'
import { marketsOf, type MarketsContext } from './marketsOf.ts'

const TradeList = Closed(
  { data: Type.Array(RecentTradeSchema) },
  { data: 'Executions of all traders, newest first.' },
  { title: 'RecentTradeList', description: 'The tape of a market.' },
)

const QUERY = { limit: countOf(100) }

/** The context of the trades route. */
interface TradesContext extends MarketsContext {
  readonly store: Pick<Store, 'read'>
}

export const getRecentTradesRoute = defineRoute({
  method: 'GET',
  path: '/v1/:chain/markets/:symbol/trades',
  operationId: 'getRecentTrades',
  tag: 'Markets',
  access: 'public',
  summary: 'Lists the executed trades of a market, newest first',
  description: 'It also answers while the price feed is silent.',
  errors: ['MARKET_NOT_FOUND', 'NOT_READY'],
  query: QUERY,
  responses: { 200: TradeList },
  async handler(context: TradesContext, { params, query }, reply) {
    const { limit } = numberQuery(query, QUERY)
    const { slug } = servedChainOf(context.chains, params.chain)
    const { pairIndex } = marketsOf(context, slug).listed(params.symbol)
    const data = await listTrades(context.store.read, { chain: slug, pairIndex, limit })
    return reply.type(JSON_TYPE).send(JSON.stringify({ data }))
  },
})
