import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { ApiCall } from '../http/createTransport.ts'
import { createAccount } from './createAccount.ts'

const TRADER = `0x${'22'.repeat(20)}`

function accountOf(answer: object) {
  const calls: ApiCall[] = []
  const transport = {
    call: async <Answer>(call: ApiCall): Promise<Answer> => {
      calls.push(call)
      return answer as Answer
    },
  }
  const root = `/v1/base/account/${TRADER}`
  const account = createAccount(transport, '/v1/base', async () => TRADER)
  return { account, asked: () => calls.map(({ operationId, path }) => [operationId, path.replace(root, '')]) }
}

describe('the lists of what is open', () => {
  it('are whole without a filter, and asked for as ever', async () => {
    const { account, asked } = accountOf({ data: [] })
    assert.deepEqual(await account.positions(), [])
    assert.deepEqual(await account.openOrders({}), [])
    assert.deepEqual(asked(), [
      ['listPositions', '/positions'],
      ['listOpenOrders', '/orders'],
    ])
  })

  it('are what a filter selects', async () => {
    const { account, asked } = accountOf({ data: [] })
    await account.positions({ market: 'BTC/USD', since: 7 })
    await account.openOrders({ market: 'BTC-USD', status: 'timed_out', since: 0 })
    assert.deepEqual(asked(), [
      ['listPositions', '/positions?market=BTC%2FUSD&since=7'],
      ['listOpenOrders', '/orders?market=BTC-USD&status=timed_out&since=0'],
    ])
  })

  it('are pages where pages are asked for, which always have a limit', async () => {
    const page = { data: [], nextCursor: null }
    const { account, asked } = accountOf(page)
    assert.deepEqual(await account.positionsPage(), page)
    await account.positionsPage({ market: 'BTC-USD', cursor: 'cDE', limit: 2 })
    await account.openOrdersPage({ status: 'open' })
    await account.openOrdersPage({ cursor: 'cTE', limit: 500 })
    assert.deepEqual(asked(), [
      ['listPositions', '/positions?limit=50'],
      ['listPositions', '/positions?market=BTC-USD&cursor=cDE&limit=2'],
      ['listOpenOrders', '/orders?status=open&limit=50'],
      ['listOpenOrders', '/orders?cursor=cTE&limit=500'],
    ])
  })
})
