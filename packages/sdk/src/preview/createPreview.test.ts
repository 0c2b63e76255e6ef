import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { ApiCall } from '../http/createTransport.ts'
import { createPreview } from './createPreview.ts'

const TRADER = `0x${'22'.repeat(20)}`
const AGENT = `0x${'33'.repeat(20)}` as const

function previewOf(ownAgent: `0x${string}` | undefined) {
  const calls: ApiCall[] = []
  const transport = {
    call: async <Answer>(call: ApiCall): Promise<Answer> => {
      calls.push(call)
      return {} as Answer
    },
  }
  return { calls, preview: createPreview(transport, '/v1/base', { traderOf: () => TRADER, ownAgent }) }
}

describe('previews of the client', () => {
  const order = {
    market: 'BTC/USD',
    side: 'long',
    type: 'market',
    size: '0.02',
    leverage: '10',
    clientId: 'a',
  } as const

  it('ask for the rights of its own agent, and never for a client id', async () => {
    const { calls, preview } = previewOf(AGENT)
    await preview.order({ ...order, reduceOnly: true }, { simulate: true })
    const [call] = calls
    assert.deepEqual(
      [call!.operationId, call!.method, call!.auth, call!.retry],
      ['previewOrder', 'GET', 'read', 'read'],
    )
    const query = 'market=BTC%2FUSD&side=long&type=market&size=0.02&leverage=10&reduceOnly=true'
    assert.equal(call!.path, `/v1/base/account/${TRADER}/preview/order?${query}&simulate=true&agent=${AGENT}`)
  })

  it('name a close and a change of a position by its id', async () => {
    const { calls, preview } = previewOf(undefined)
    await preview.close('3')
    await preview.close('3', { size: '0.01', slippage: '2' })
    await preview.position('3', { sl: '50000', tp: '0' })
    await preview.position('3', { collateral: { action: 'remove', amount: '5' } }, { agent: AGENT })
    const root = `/v1/base/account/${TRADER}/preview`
    assert.deepEqual(
      calls.map(({ operationId, path }) => [operationId, path]),
      [
        ['previewClose', `${root}/close/3`],
        ['previewClose', `${root}/close/3?size=0.01&slippage=2`],
        ['previewPosition', `${root}/position/3?sl=50000&tp=0`],
        ['previewPosition', `${root}/position/3?removeCollateral=5&agent=${AGENT}`],
      ],
    )
  })
})
