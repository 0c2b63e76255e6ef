import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Order, Position, TransactionRequest } from '@bezel/protocol'
import {
  createWalletClient,
  decodeFunctionData,
  encodeFunctionData,
  erc20Abi,
  formatUnits,
  parseUnits,
  type Hex,
} from 'viem'
import type { Answer } from '@bezel/testkit/agentClient.ts'
import { patientHttp } from '@bezel/testkit/chainClient.ts'
import type { TradingClient } from '@bezel/testkit/tradingClient.ts'
import { startTradingWorld, type TradingWorld } from '@bezel/testkit/tradingWorld.ts'
import { until } from '@bezel/testkit/until.ts'

const MARKET = { market: 'BTC/USD', side: 'long', type: 'market', size: '0.02', leverage: '10' }
const LIMIT = { ...MARKET, type: 'limit', price: '59000' }

describe('an account that never allows more than is needed', () => {
  let world: TradingWorld
  let client: TradingClient
  let usdc: { readonly address: Hex; readonly decimals: number }

  before(async () => {
    world = await startTradingWorld()
    client = await world.clientOf('trader-1', 'agent-1')
    usdc = world.chain.collateral('USDC')
    const args = [world.chain.diamond, 0n] as const
    await sendAsTrader({
      to: usdc.address,
      data: encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args }),
    })
  })
  after(() => world?.stop())

  async function sendAsTrader({ to, data }: Pick<TransactionRequest, 'to' | 'data'>): Promise<void> {
    const transport = patientHttp(world.devnet.file.chains['arbitrum-sepolia']!.rpcUrl)
    const wallet = createWalletClient({ account: client.trader, transport })
    const hash = await wallet.sendTransaction({ to: to as Hex, data: data as Hex, chain: null })
    await world.chain.client.waitForTransactionReceipt({ hash })
  }

  const read = (functionName: 'allowance' | 'balanceOf', args: readonly Hex[]) =>
    world.chain.client.readContract({ address: usdc.address, abi: erc20Abi, functionName, args } as never)
  const allowance = () => read('allowance', [client.trader.address, world.chain.diamond]) as Promise<bigint>
  const balance = () => read('balanceOf', [client.trader.address]) as Promise<bigint>

  /** Asserts a refusal for lack of allowance, sends its approval, and returns the amount that it allowed. */
  async function approveAsTold({ status, body }: Answer): Promise<bigint> {
    assert.deepEqual([status, body.code], [422, 'SIMULATION_REVERTED'], JSON.stringify(body))
    const { approvalTx, collateral, needed } = body.details
    assert.ok(body.message.includes(`${needed} USDC`), body.message)
    assert.deepEqual([collateral, approvalTx.to], ['USDC', usdc.address])
    const { functionName, args } = decodeFunctionData({ abi: erc20Abi, data: approvalTx.data })
    const amount = parseUnits(needed, usdc.decimals)
    assert.deepEqual([functionName, args], ['approve', [world.chain.diamond, amount]])
    await sendAsTrader(approvalTx)
    assert.equal(await allowance(), amount)
    return amount
  }

  const create = (body: object) => client.request('createOrder', 'POST', '/orders', body)
  const update = (id: string, body: object) => client.request('updateOrder', 'PATCH', `/orders/${id}`, body)

  it('opens, is refused to re-price while its order rests, allows what is needed, re-prices and cancels', async () => {
    const atFirst = await balance()
    const taken = await approveAsTold(await create(LIMIT))
    const { id } = await client.trade(LIMIT, 'open')
    assert.deepEqual([await allowance(), atFirst - (await balance())], [0n, taken])

    const refused = await update(id, { price: '58000' })
    const order = await client.order(id)
    assert.deepEqual([order.status, order.price], ['open', '59000'])
    const again = await approveAsTold(refused)
    const moved = await update(id, { price: '58000' })
    assert.equal(moved.status, 200, JSON.stringify(moved.body))
    await client.broadcast(moved.body.transaction)
    const inForce: Order = await client.orderOnce(id, ({ price }) => price === '58000')
    assert.deepEqual([inForce.status, inForce.size], ['open', LIMIT.size])
    assert.deepEqual([await allowance(), atFirst - (await balance())], [0n, again])

    const cancel = await client.request('cancelOrder', 'DELETE', `/orders/${id}`)
    await client.broadcast(cancel.body.transaction)
    await client.orderOnce(id, ({ status }) => status === 'canceled')
    assert.deepEqual([await allowance(), await balance()], [0n, atFirst])
  })

  it('allows for a lower leverage what that adds, and no more', async () => {
    await approveAsTold(await create(MARKET))
    const { fill } = await client.trade(MARKET, 'filled')
    const path = `/positions/${fill!.positionId}`
    const position = async (): Promise<Position> => {
      const { body } = await client.account('/positions', 'listPositions')
      return (body.data as Position[]).find(({ id }) => id === fill!.positionId)!
    }
    const { collateral } = await position()
    const atFirst = await balance()
    const change = () => client.request('updatePosition', 'PATCH', path, { leverage: '5' })
    const added = await approveAsTold(await change())
    assert.equal(formatUnits(added, usdc.decimals), collateral)
    const prepared = await change()
    assert.equal(prepared.status, 200, JSON.stringify(prepared.body))
    await client.broadcast(prepared.body.transaction)
    await until('the leverage is lower', async () => (await position()).leverage === '5')
    assert.deepEqual([await allowance(), atFirst - (await balance())], [0n, added])
  })
})
