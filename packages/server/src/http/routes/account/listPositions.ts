import { PositionListSchema } from '@bezel/protocol'
import { ownAccount, type AccountContext } from './ownAccount.ts'
import { defineRoute, JSON_TYPE } from '../../route.ts'

export const listPositionsRoute = defineRoute({
  method: 'GET',
  path: '/v1/:chain/account/:address/positions',
  operationId: 'listPositions',
  tag: 'Account',
  access: 'read',
  summary: 'Lists the open positions, with profit and liquidation price as of now, oldest first',
  description:
    'A quiet market hides nothing: its position is valued with the last mark, and `priceAt` tells how old that is.',
  errors: ['TRADER_MISMATCH'],
  responses: { 200: PositionListSchema },
  async handler(context: AccountContext, request, reply) {
    const { chain, trader } = ownAccount(context, request)
    return reply.type(JSON_TYPE).send(context.positionsOf(chain).listOf(trader))
  },
})
