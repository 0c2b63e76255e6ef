import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { CONTRACT_ERRORS, type ContractErrorName } from '@bezel/protocol'
import { createWalletClient, decodeFunctionData, encodeFunctionData, erc20Abi, http, maxUint256, type Hex } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { ownDetails } from '@bezel/testkit/ownDetails.ts'
import type { TradingClient } from '@bezel/testkit/tradingClient.ts'
import { startFacadeWorld, type FacadeWorld } from './facade/facadeWorld.ts'
import { connectRaw, envelopeOf, postRaw } from './facade/rawExchange.ts'

const CHAIN = 'arbitrum-sepolia'
const MARKET = { market: 'BTC/USD', side: 'long', type: 'market', size: '0.02', leverage: '10' }
const LIMIT = { ...MARKET, type: 'limit', price: '50000' }
const BUY = { a: 0, b: true, p: '50000', s: '0.02', r: false, t: { limit: { tif: 'Gtc' } } }
const NOW = { p: '63000', t: { limit: { tif: 'Ioc' } } }
const CLOSE = { ...BUY, b: false, p: '57000', s: '0.01', r: true, t: NOW.t }

/** The errors of the contracts that traders meet most, as the real contracts raise them. */
describe('what the contracts refuse', () => {
  let world: FacadeWorld
  let native: TradingClient
  let wallet: PrivateKeyAccount

  before(async () => {
    world = await startFacadeWorld()
    native = await world.clientOf('trader-1', 'trader-1')
    wallet = await connectRaw(world, 'trader-2', 'agent-2')
  })
  after(() => world?.stop())

  const create = (body: object) => native.request('createOrder', 'POST', '/orders', body)

  /** Places orders through the facade, and returns the text of the first refusal. */
  async function refusalOf(orders: readonly object[], grouping = 'na'): Promise<string> {
    const { text } = await postRaw(world, await envelopeOf(wallet, { type: 'order', orders, grouping }))
    const { status, response } = JSON.parse(text)
    if (status === 'err') return response
    const statuses: readonly { readonly error?: string }[] = response.data.statuses
    return statuses.find(({ error }) => error !== undefined)?.error ?? assert.fail(text)
  }

  async function approve(name: string, amount: bigint): Promise<void> {
    const transport = http(world.devnet.file.chains[CHAIN]!.rpcUrl)
    const sender = createWalletClient({ account: world.chain.account(name), transport })
    const data = encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [world.chain.diamond, amount] })
    const hash = await sender.sendTransaction({ to: world.chain.collateral('USDC').address, data, chain: null })
    await world.chain.client.waitForTransactionReceipt({ hash })
  }

  /** Asserts that a native refusal is told in the words of the table. */
  function assertTold({ status, body }: Awaited<ReturnType<typeof create>>, name: ContractErrorName): void {
    const { words, cause, remedy } = CONTRACT_ERRORS[name]
    assert.deepEqual([status, body.code], [422, 'SIMULATION_REVERTED'], JSON.stringify(body))
    assert.equal(body.message, `The contracts would revert with ${name}. ${words} ${cause} ${remedy}`)
    const details = ownDetails(body.details)
    assert.deepEqual([details.errorName, details.cause, body.details.remedy], [name, cause, remedy])
    assert.match(String(details.calldata), /^0x[0-9a-f]{8,}$/)
    assert.equal(body.details.docs, '/docs/errors#simulation_reverted')
  }

  /** Asserts that the facade answers the same words behind a beginning that its clients match. */
  function assertSaid(text: string, beginning: string, name: ContractErrorName): void {
    assert.ok(text.startsWith(beginning), text)
    assert.ok(text.includes(` ${CONTRACT_ERRORS[name].words} ${CONTRACT_ERRORS[name].cause}`), text)
  }

  const child = (tpsl: 'tp' | 'sl', triggerPx: string) => ({
    ...BUY,
    b: false,
    p: triggerPx,
    r: true,
    t: { trigger: { isMarket: true, triggerPx, tpsl } },
  })

  it('a take profit or a stop loss on the wrong side', async () => {
    assertTold(await create({ ...LIMIT, tp: '45000' }), 'TradeTpInvalid')
    assertTold(await create({ ...LIMIT, sl: '55000' }), 'TradeSlInvalid')
    const trigger = 'Invalid TP/SL price.'
    assertSaid(await refusalOf([BUY, child('tp', '45000')], 'normalTpsl'), trigger, 'TradeTpInvalid')
    assertSaid(await refusalOf([BUY, child('sl', '55000')], 'normalTpsl'), trigger, 'TradeSlInvalid')
  })

  it('an order that would move the price too far', async () => {
    assertTold(await create({ ...MARKET, size: '1000', leverage: '150' }), 'PriceImpactTooHigh')
    const leverage = await envelopeOf(wallet, { type: 'updateLeverage', asset: 0, isCross: false, leverage: 150 })
    assert.equal(JSON.parse((await postRaw(world, leverage)).text).status, 'ok')
    const text = await refusalOf([{ ...BUY, ...NOW, s: '1000' }])
    assertSaid(text, 'No liquidity available for market order.', 'PriceImpactTooHigh')
    const back = await envelopeOf(wallet, { type: 'updateLeverage', asset: 0, isCross: false, leverage: 10 })
    assert.equal(JSON.parse((await postRaw(world, back)).text).status, 'ok')
  })

  it('more than the wallet has: which token, and how much', async () => {
    const { body } = await create({ ...LIMIT, size: '400' })
    const { collateral, needed, balance } = body.details
    assert.deepEqual([body.code, collateral], ['SIMULATION_REVERTED', 'USDC'])
    assert.ok(Number(needed) > 2_000_000)
    assert.ok(
      body.message.includes(`${needed} USDC are needed, but the trader's balance is ${balance} USDC`),
      body.message,
    )
    assert.match(
      await refusalOf([{ ...BUY, s: '400' }]),
      /^Insufficient margin to place order\. .* USDC are needed, but/,
    )
  })

  it('more than the Diamond may take: with the transaction that allows it', async () => {
    for (const name of ['trader-1', 'trader-2']) await approve(name, 0n)
    const { body } = await create(LIMIT)
    const { needed, approvalTx } = body.details
    assert.match(
      body.message,
      new RegExp(`${needed} USDC are needed, but the trader's allowance for the Diamond is 0 USDC`),
    )
    const usdc = world.chain.collateral('USDC').address
    assert.deepEqual([approvalTx.to, approvalTx.chainId], [usdc, world.devnet.file.chains[CHAIN]!.chainId])
    const { functionName, args } = decodeFunctionData({ abi: erc20Abi, data: approvalTx.data })
    assert.deepEqual([functionName, args[0]], ['approve', world.chain.diamond])

    const text = await refusalOf([BUY])
    assert.match(text, /^Insufficient margin to place order\. .* allowance for the Diamond is 0 USDC/)
    const [, to, data] = / approvalTx: to (0x[0-9a-fA-F]{40}) data (0x[0-9a-f]+)/.exec(text) ?? assert.fail(text)
    assert.equal(to, usdc)
    assert.equal(decodeFunctionData({ abi: erc20Abi, data: data as Hex }).functionName, 'approve')
    for (const name of ['trader-1', 'trader-2']) await approve(name, maxUint256)
  })

  it('a second request for a position that waits for the first', async () => {
    await native.trade(MARKET, 'filled')
    const [{ id }] = (await native.account('/positions', 'listPositions')).body.data
    const opened = JSON.parse(
      (await postRaw(world, await envelopeOf(wallet, { type: 'order', orders: [{ ...BUY, ...NOW }], grouping: 'na' })))
        .text,
    )
    assert.ok('filled' in opened.response.data.statuses[0], JSON.stringify(opened))

    await world.chain.control('bezel_pauseOracle', true)
    const close = () => native.request('closePosition', 'POST', `/positions/${id}/close`, { size: '0.01' })
    const first = await close()
    const hash = await native.broadcast(first.body.transaction)
    await world.chain.client.waitForTransactionReceipt({ hash })
    assertTold(await close(), 'ConflictingPendingOrder')

    const reduce = async () =>
      JSON.parse(
        (await postRaw(world, await envelopeOf(wallet, { type: 'order', orders: [CLOSE], grouping: 'na' }))).text,
      )
    assert.ok('resting' in (await reduce()).response.data.statuses[0])
    const text = await refusalOf([CLOSE])
    assertSaid(text, 'Order is being executed and cannot be canceled.', 'ConflictingPendingOrder')
    await world.chain.control('bezel_pauseOracle', false)
  })
})
