import assert from 'node:assert/strict'
import { it } from 'node:test'
import * as enums from './enums.ts'

it('every enum counts up from 0, as Solidity does', () => {
  const sizes = {
    TradeType: 3,
    PendingOrderType: 14,
    CancelReason: 14,
    TradingActivated: 3,
    CounterType: 2,
    ContractsVersion: 3,
  }
  assert.deepEqual(Object.keys(enums).toSorted(), Object.keys(sizes).toSorted())
  for (const [name, size] of Object.entries(sizes)) {
    const values = Object.values(enums[name as keyof typeof enums])
    assert.deepEqual(values, [...Array(size).keys()], name)
  }
})
