import { PositionListSchema, type Address } from '@bezel/protocol'
import type { PositionReads } from '../../../accounts/positions/positionReads.ts'
import type { ChainMarkets } from '../../../trading/market/chainMarkets.ts'
import { filteredMarket } from '../../../trading/market/marketNotFound.ts'
import { queryRefusal, unknownParameters } from '../../parameters.ts'
import { defineRoute, JSON_TYPE } from '../../route.ts'
import { marketsOf } from '../markets/marketsOf.ts'
import { ownAccount, type AccountContext } from './ownAccount.ts'
import { idCursors, readSelection, selectionQuery, selectionText, type Selection } from './selection.ts'

const QUERY = selectionQuery(
  'Earliest time at which a position was opened, in epoch milliseconds. One from before the known history counts as opened at its begin. Default 0.',
)

const CURSORS = idCursors('p')

export const listPositionsRoute = defineRoute({
  method: 'GET',
  path: '/v1/:chain/account/:address/positions',
  operationId: 'listPositions',
  tag: 'Account',
  access: 'read',
  summary: 'Lists the open positions, with profit and liquidation price as of now, oldest first',
  description:
    'A quiet market hides nothing: its position is valued with the last mark, and `priceAt` tells how old that is. Without parameters the answer has all of them. ' +
    'With `limit` it is a page: go on with `cursor` until `nextCursor` is null. MARKET_NOT_FOUND means that the chain never had the market.',
  errors: ['TRADER_MISMATCH', 'MARKET_NOT_FOUND'],
  query: QUERY,
  responses: { 200: PositionListSchema },
  async handler(context: AccountContext, request, reply) {
    const { chain, trader } = ownAccount(context, request)
    const reads = context.positionsOf(chain)
    const selection = readQuery(request.query)
    const answer =
      selection === undefined
        ? reads.listOf(trader)
        : textOf(reads, trader, selection, marketsOf(context, chain).freshness.loaded())
    return reply.type(JSON_TYPE).send(answer)
  },
})

/** Reads the query; `undefined` when it has no parameters. Throws `VALIDATION_ERROR`. */
function readQuery(query: Readonly<Record<string, unknown>>): Selection | undefined {
  const issues = unknownParameters(query, QUERY)
  const selection = readSelection(query, QUERY, CURSORS, issues)
  if (issues.length > 0) throw queryRefusal(issues)
  return Object.keys(query).length === 0 ? undefined : selection
}

function textOf(
  reads: PositionReads,
  trader: Address,
  { market, sinceMs, page }: Selection,
  chain: ChainMarkets,
): string {
  if (market !== undefined) filteredMarket(chain, market)
  const after = Number(page?.cursor ?? 0)
  const selected = reads
    .openOf(trader)
    .filter(
      ({ record, state }) =>
        Number(record.id) > after &&
        (market === undefined || chain.symbols.get(state.trade.pairIndex) === market) &&
        state.openedAtMs >= sinceMs,
    )
  return selectionText(selected, page, { cursors: CURSORS, idOf: ({ record }) => record.id, textOf: reads.textOf })
}
