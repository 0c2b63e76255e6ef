import assert from 'node:assert/strict'
import { it } from 'node:test'
import { PendingOrderType } from './enums.ts'
import { REQUESTS_ON_TRADE } from './requestsOnTrade.ts'

it('holds all types but opens, those that bots trigger, and the deprecated one', () => {
  const { MARKET_OPEN, LIMIT_OPEN, STOP_OPEN, TP_CLOSE, SL_CLOSE, LIQ_CLOSE, PARAM_UPDATE } = PendingOrderType
  const others = new Set<number>([MARKET_OPEN, LIMIT_OPEN, STOP_OPEN, TP_CLOSE, SL_CLOSE, LIQ_CLOSE, PARAM_UPDATE])
  const rest = Object.values(PendingOrderType).filter((type) => !others.has(type))
  assert.deepEqual([...REQUESTS_ON_TRADE], rest)
})
