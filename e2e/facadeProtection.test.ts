import { diamondAbi, Price } from '@bezel/protocol'
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { PrivateKeyAccount } from 'viem/accounts'
import type { ExchangeAction } from '../packages/server/src/facade/signing/envelope.ts'
import { signL1, signUserSigned } from '@bezel/testkit/signEnvelope.ts'
import { until } from '@bezel/testkit/until.ts'
import { startTradingWorld, type TradingWorld } from '@bezel/testkit/tradingWorld.ts'

const FACADE_PATH = '/hl/arbitrum-sepolia'
const IOC = { limit: { tif: 'Ioc' } }
const stopAt = (triggerPx: string) => ({ trigger: { isMarket: true, triggerPx, tpsl: 'sl' } })

describe('what protects a position of a client of the facade', () => {
  let world: TradingWorld
  let trader: PrivateKeyAccount
  let lastNonce = 0

  before(async () => {
    world = await startTradingWorld()
    trader = world.chain.account('trader-1')
    const { address: agentAddress } = world.chain.account('agent-1')
    const nonce = (lastNonce = Date.now())
    const network = { signatureChainId: '0x66eee', hyperliquidChain: 'Testnet' }
    const action = { type: 'approveAgent', ...network, agentAddress, agentName: 'bot', nonce }
    const approved = await post('exchange', signUserSigned(keyOf('trader-1'), action))
    assert.equal(approved.status, 'ok', JSON.stringify(approved))
    await world.chain.send(trader, 'setTradingDelegate', [world.chain.account('relayer').address])
  })
  after(() => world?.stop())

  const keyOf = (name: string) => world.devnet.file.accounts.find((account) => account.name === name)!.privateKey

  async function post(route: 'exchange' | 'info', body: unknown) {
    const headers = { 'content-type': 'application/json' }
    const answer = await fetch(`${world.url()}${FACADE_PATH}/${route}`, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    })
    assert.equal(answer.status, 200)
    return JSON.parse(await answer.text())
  }

  /** Sends an action with one item and returns the outcome of that item. */
  async function act(action: ExchangeAction) {
    lastNonce = Math.max(Date.now(), lastNonce + 1)
    const answer = await post('exchange', signL1(keyOf('agent-1'), { action, nonce: lastNonce }))
    assert.equal(answer.status, 'ok', JSON.stringify(answer))
    return answer.response.data?.statuses[0]
  }

  const place = (item: Record<string, unknown>, grouping = 'na') =>
    act({ type: 'order', orders: [{ a: 0, r: false, ...item }], grouping } as never)
  const stop = async (px: string): Promise<number> => {
    const status = await place({ b: false, p: px, s: '0', r: true, t: stopAt(px) }, 'positionTpsl')
    assert.ok('resting' in status && !('pending' in status), JSON.stringify(status))
    return status.resting.oid
  }
  const statusOf = async (oid: number): Promise<string> =>
    (await post('info', { type: 'orderStatus', user: trader.address, oid })).order?.status
  const szi = async (): Promise<string | undefined> =>
    (await post('info', { type: 'clearinghouseState', user: trader.address })).assetPositions[0]?.position.szi

  /** Reads the index and the closing slippage of the trader's only trade from the Diamond itself. */
  async function chainTrade() {
    const { client, diamond } = world.chain
    const of = { address: diamond, abi: diamondAbi } as const
    const trades = await client.readContract({ ...of, functionName: 'getTrades', args: [trader.address] })
    const infos = await client.readContract({ ...of, functionName: 'getTradeInfos', args: [trader.address] })
    const at = trades.findIndex(({ isOpen }) => isOpen)
    return { index: trades[at]!.index, slippageP: infos[at]!.maxSlippageP }
  }
  const closingSlippage = async (): Promise<number> => (await chainTrade()).slippageP

  it('is neither weakened by a close at a tight price nor lost when it is moved', async () => {
    const opened = await place({ b: true, p: '63000', s: '0.1', t: IOC })
    assert.ok('filled' in opened, JSON.stringify(opened))
    const first = await stop('55000')

    // The order is filled within half a percent. The stop, which the chain bounds by the same slippage, is unchanged.
    const reduced = await place({ b: false, p: '59700', s: '0.04', r: true, t: IOC })
    assert.ok('filled' in reduced, JSON.stringify(reduced))
    assert.ok(Number(reduced.filled.avgPx) >= 59_700)
    assert.equal(await closingSlippage(), 0)

    // An order that its price does not allow is refused, never filled at a worse one.
    const refused = await place({ b: false, p: '59999', s: '0.01', r: true, t: IOC })
    assert.match(refused.error, /^Order could not immediately match/)

    const second = await stop('56000')
    assert.notEqual(second, first)
    const canceled = await act({ type: 'cancel', cancels: [{ a: 0, o: first }] })
    assert.deepEqual(canceled, { error: 'Order was never placed, already canceled, or filled.' })
    assert.deepEqual([await statusOf(first), await statusOf(second)], ['canceled', 'open'])

    await world.setPrice(55_950)
    await until('the stop has closed the position', async () => (await szi()) === undefined)
    await until('it is told as filled', async () => (await statusOf(second)) === 'filled')
    assert.equal(await statusOf(first), 'canceled')
  })

  it('executes, too, when it was set while a tight close waited, because the slippage is put back after that', async () => {
    await world.moveTo(60_000)
    const opened = await place({ b: true, p: '63000', s: '0.1', t: IOC })
    assert.ok('filled' in opened, JSON.stringify(opened))
    await world.chain.control('bezel_pauseOracle', true)
    const { index } = await chainTrade()
    await world.chain.send(trader, 'updateMaxClosingSlippageP', [index, 1])
    await world.chain.send(trader, 'closeTradeMarket', [index, 60_000n * Price.one])
    await until('the service knows the close', async () => {
      const orders = await post('info', { type: 'frontendOpenOrders', user: trader.address })
      return orders.length === 1
    })
    const oid = await stop('57000')
    assert.equal(await closingSlippage(), 1, 'the close still has its own bound')

    await world.chain.control('bezel_pauseOracle', false)
    await until('the slippage is put back', async () => (await closingSlippage()) === 1_000)
    assert.equal(await szi(), '0.1')
    await world.setPrice(56_950)
    await until('the stop has closed the position', async () => (await szi()) === undefined)
    await until('it is told as filled', async () => (await statusOf(oid)) === 'filled')
  })
})
