import { parseOrderId, PositionSchema } from '@bezel/protocol'
import { positionNotFound } from '../../../orders/closePosition.ts'
import { defineRoute, JSON_TYPE } from '../../route.ts'
import { ownChain, type AccountContext } from '../account/ownAccount.ts'

type GetPositionContext = Pick<AccountContext, 'chains' | 'isKnown' | 'positionsOf'>

export const getPositionRoute = defineRoute({
  method: 'GET',
  path: '/v1/:chain/positions/:id',
  operationId: 'getPosition',
  tag: 'Positions',
  access: 'read',
  summary: 'Reads one open position, with profit and liquidation price as of now',
  description:
    "A position that is closed, or another trader's, is answered like one that does not exist. The executions of a closed one are in listFills, under its `positionId`.",
  errors: ['POSITION_NOT_FOUND'],
  responses: { 200: PositionSchema },
  async handler(context: GetPositionContext, request, reply) {
    const { chain, trader } = ownChain(context, request)
    const id = parseOrderId(request.params.id)
    const reads = context.positionsOf(chain)
    const position = reads.openOf(trader).find(({ record }) => record.id === id)
    if (position === undefined) throw positionNotFound()
    return reply.type(JSON_TYPE).send(reads.textOf(position))
  },
})
