import { PositionListSchema } from '@bezel/protocol'
import type { FastifyInstance } from 'fastify'
import { requirePrivateRead } from '../../hooks/privateRead.ts'
import { JSON_TYPE } from '../markets/marketsOf.ts'
import { ownAccount, type AccountContext, type AccountRoute } from './accountRoutes.ts'

/** GET /v1/{chain}/account/{address}/positions: the open positions, valued now, oldest first. */
export function listPositions(app: FastifyInstance, context: AccountContext): void {
  const schema = { operationId: 'listPositions', response: { 200: PositionListSchema } }
  app.get<AccountRoute>(
    '/v1/:chain/account/:address/positions',
    { schema, preValidation: requirePrivateRead(context, 'listPositions') },
    async (request, reply) => {
      const { chain, trader } = ownAccount(context, request)
      return reply.type(JSON_TYPE).send(context.positionsOf(chain).listOf(trader))
    },
  )
}
