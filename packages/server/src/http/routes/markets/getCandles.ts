import { CandleSchema, Closed } from '@bezel/protocol'
import { Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import type { CandleReads } from '../../../market/candles/candleReads.ts'
import { candleQuery } from './candleQuery.ts'
import { JSON_TYPE, marketsOf, type MarketsContext } from './marketsOf.ts'

const CandleList = Closed({ data: Type.Array(CandleSchema) })

/** What the route of candles answers from. */
export interface CandlesContext extends MarketsContext {
  readonly candles: Pick<CandleReads, 'list'>
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

interface CandlesRoute {
  readonly Params: { readonly chain: string; readonly symbol: string }
  readonly Querystring: Record<string, unknown>
}

/** GET /v1/{chain}/markets/{symbol}/candles: mark prices over time, oldest first. Past ones need no live feed, so a silent one does not stop it. */
export function getCandles(app: FastifyInstance, of: CandlesContext): void {
  const schema = { operationId: 'getCandles', response: { 200: CandleList } }
  app.get<CandlesRoute>('/v1/:chain/markets/:symbol/candles', { schema }, async ({ params, query }, reply) => {
    const markets = marketsOf(of, params.chain)
    const range = candleQuery(query, of.now())
    const { pairIndex } = markets.listed(params.symbol)
    return reply.type(JSON_TYPE).send(await of.candles.list(pairIndex, range))
  })
}
