import assert from 'node:assert/strict'
import { env } from 'node:process'
import { after, before, describe, it } from 'node:test'
import type { Order, OrderPreview } from '@bezel/protocol'
import { parseUnits, type Hex } from 'viem'
import { createSeededRandom } from '@bezel/testkit/seededRandom.ts'
import { openPreviewDesk, type PreviewDesk } from './preview/previewDesk.ts'
import { startSizeWorld, type SizedMarket, type SizeWorld } from './sizePromise/sizeWorld.ts'

// A property of every preview: while prices stand still, what happens has its numbers, to the last unit. The Diamond's
// events and views say what happened. CAMPAIGN=40 draws so many positions, CAMPAIGN_SEED=7 draws others.

const ROUNDS = Number(env['CAMPAIGN'] ?? 4)
const SEED = Number(env['CAMPAIGN_SEED'] ?? Math.floor(Math.random() * 2 ** 31))

/** The fields of the Diamond's events that the test reads. */
interface Executed {
  readonly user: Hex
  readonly oraclePrice: bigint
  readonly liqPrice: bigint
  readonly amountSentToTrader: bigint
  readonly t: { readonly sl: bigint; readonly tp: bigint; readonly collateralAmount: bigint }
  readonly priceImpact: Impact
}

interface Impact {
  readonly fixedSpreadP: bigint
  readonly cumulVolPriceImpactP: bigint
  readonly skewPriceImpactP: bigint
  readonly totalPriceImpactP: bigint
}

interface Decreased {
  readonly values: {
    readonly priceImpact: Impact
    readonly closingFeeCollateral: bigint
    readonly partialRawPnlCollateral: bigint
    readonly collateralSentToTrader: bigint
    readonly newCollateralAmount: bigint
    readonly newLiqPrice: bigint
  }
}

interface LeverageChanged {
  readonly cancelReason: number
  readonly collateralDelta: bigint
  readonly values: {
    readonly newLeverage: bigint
    readonly newCollateralAmount: bigint
    readonly govFeeCollateral: bigint
    readonly newLiqPrice: bigint
    readonly newEffectiveLeverage: bigint
  }
}

describe('a preview', () => {
  const random = createSeededRandom(SEED)
  let world: SizeWorld
  let desk: PreviewDesk
  const seen = { opened: 0, rested: 0, parts: 0, closed: 0 }

  before(async () => {
    console.log(`CAMPAIGN=${ROUNDS} CAMPAIGN_SEED=${SEED}`)
    world = await startSizeWorld()
    desk = openPreviewDesk(world, await world.clientOf('trader-1', 'agent-1'))
    // This trader has terms of its own in one market.
    const sol = world.markets.find(({ symbol }) => symbol === 'SOL/USD')!
    await world.setTerms(desk.client.trader.address, sol, 37, 1_700)
  })
  after(() => world?.stop())

  const between = (from: number, to: number): number => from + random.next() * (to - from)

  function draw(market: SizedMarket): Record<string, string> {
    const least = Math.max(2, Math.ceil(market.minLeverage))
    return {
      market: market.symbol,
      side: random.chance(0.5) ? 'long' : 'short',
      type: 'market',
      size: (between(1_500, 9_000) / market.basePrice).toFixed(market.sizePrecision),
      leverage: between(least, least + 8).toFixed(3),
      collateral: random.pick(['USDC', 'USDC', 'WETH', 'DAI']),
      slippage: '5',
    }
  }

  /** Adds stops that no price of the test reaches. The contracts move a stop loss that is far away. */
  function withStops(body: Record<string, string>, market: SizedMarket): Record<string, string> {
    const away = body['side'] === 'long' ? -1 : 1
    const at = (share: number): string => (market.basePrice * (1 + share)).toFixed(market.pricePrecision)
    return { ...body, sl: at(away * between(0.03, 0.3)), tp: at(-away * between(0.05, 0.3)) }
  }

  /** Compares the parts of a price with what the Diamond tells of them: positive raises it there, and costs here. */
  function compareRates(preview: OrderPreview, impact: Impact): void {
    const sign = preview.side === 'long' ? 1n : -1n
    const told = [
      impact.fixedSpreadP,
      impact.cumulVolPriceImpactP,
      impact.skewPriceImpactP,
      impact.totalPriceImpactP,
    ].map((part) => part * sign)
    const { spreadRate, volumeImpactRate, skewImpactRate, priceImpactRate } = preview
    const ours = [spreadRate, volumeImpactRate, skewImpactRate, priceImpactRate].map((rate) => parseUnits(rate, 12))
    assert.deepEqual(ours, told)
  }

  function compareFill(preview: OrderPreview, { fill }: Order): void {
    const { price, size, collateral, feeCollateral } = fill!
    assert.deepEqual(
      { price, size, collateral, feeCollateral },
      {
        price: preview.price,
        size: preview.size,
        collateral: preview.collateral,
        feeCollateral: preview.feeCollateral,
      },
    )
  }

  const decimalsOf = ({ collateralSymbol }: OrderPreview): number => world.chain.collateral(collateralSymbol).decimals

  async function eventOf<Args>(txHash: Hex, ...names: readonly string[]): Promise<Args> {
    const found = (await desk.events(txHash)).find(({ eventName }) => names.includes(eventName))
    assert.ok(found !== undefined, `${txHash} has none of ${names.join(', ')}`)
    return found.args as never as Args
  }

  /** Returns the holding fees that an execution realised. */
  async function holdingFeesIn(txHash: Hex): Promise<bigint> {
    const names = ['HoldingFeesChargedOnTrade', 'HoldingFeesRealizedOnTrade']
    const args = await eventOf<{ readonly tradeHoldingFees: { readonly totalFeeCollateral: bigint } }>(txHash, ...names)
    return args.tradeHoldingFees.totalFeeCollateral
  }

  const trade = async (body: object): Promise<{ readonly order: Order; readonly txHash: Hex }> => {
    const order = await desk.client.trade({ ...body }, 'filled')
    return { order, txHash: order.fill!.txHash as Hex }
  }

  async function open(body: Record<string, string>): Promise<{ readonly id: string; readonly preview: OrderPreview }> {
    const { preview, done } = await desk.still(
      () => desk.order(body),
      () => trade(body),
    )
    assert.deepEqual([preview.reason, preview.missing], [null, []])
    compareFill(preview, done.order)
    await compareOpened(preview, done.txHash)
    seen.opened += 1
    return { id: done.order.fill!.positionId!, preview }
  }

  async function compareOpened(preview: OrderPreview, txHash: Hex): Promise<void> {
    const executed = await eventOf<Executed>(txHash, 'MarketExecuted', 'LimitExecuted')
    compareRates(preview, executed.priceImpact)
    assert.equal(parseUnits(preview.oraclePrice, 10), executed.oraclePrice)
    assert.equal(parseUnits(preview.liquidationPrice!, 10), executed.liqPrice)
    assert.equal(parseUnits(preview.sl ?? '0', 10), executed.t.sl)
    assert.equal(parseUnits(preview.tp ?? '0', 10), executed.t.tp)
    assert.equal(parseUnits(preview.deposit, decimalsOf(preview)), executed.t.collateralAmount)
  }

  async function closeBy(id: string, body: Record<string, string>) {
    const answer = await desk.client.request('closePosition', 'POST', `/positions/${id}/close`, body)
    assert.equal(answer.status, 200, JSON.stringify(answer.body))
    await desk.client.broadcast(answer.body.transaction)
    const order = await desk.client.orderOnce(answer.body.order.id, ({ status }) => status === 'filled')
    return { order, txHash: order.fill!.txHash as Hex }
  }

  /** Holding fees go on by the second; nothing else in a close depends on the time. */
  function comparePayout(preview: OrderPreview, sent: bigint, fees: bigint, text: string): void {
    const units = (amount: string): bigint => parseUnits(amount, decimalsOf(preview))
    const feesBefore = units(preview.fundingFee) + units(preview.borrowingFee)
    const grown = fees > feesBefore ? fees - feesBefore : feesBefore - fees
    const off = sent > units(preview.payout) ? sent - units(preview.payout) : units(preview.payout) - sent
    assert.ok(
      off <= (grown === 0n ? 0n : grown + 1n),
      `${text}: ${preview.payout} and ${sent}, fees ${feesBefore} and ${fees}`,
    )
  }

  /** Compares liquidation prices that differ by the holding fees of the seconds between. */
  function compareNear(ours: bigint, told: bigint): void {
    const off = ours > told ? ours - told : told - ours
    assert.ok(off * 1_000_000n <= told, `${ours} and ${told}`)
  }

  async function closePart(id: string, opened: OrderPreview, market: SizedMarket): Promise<void> {
    const size = (Number(opened.size) * between(0.2, 0.6)).toFixed(market.sizePrecision)
    const { preview, done } = await desk.still(
      () => desk.close(id, { size }),
      () => closeBy(id, { size }),
    )
    compareFill(preview, done.order)
    const { values } = await eventOf<Decreased>(done.txHash, 'PositionSizeDecreaseExecuted')
    compareRates(preview, values.priceImpact)
    const units = (amount: string): bigint => parseUnits(amount, decimalsOf(preview))
    assert.equal(units(preview.pnl), values.partialRawPnlCollateral)
    assert.equal(units(preview.feeCollateral), values.closingFeeCollateral)
    const fees = await holdingFeesIn(done.txHash)
    comparePayout(preview, values.collateralSentToTrader, fees, 'part')
    compareNear(parseUnits(preview.liquidationPrice!, 10), values.newLiqPrice)
    seen.parts += 1
  }

  async function closeAll(id: string): Promise<void> {
    const { preview, done } = await desk.still(
      () => desk.close(id, { slippage: '5' }),
      () => closeBy(id, { slippage: '5' }),
    )
    compareFill(preview, done.order)
    const executed = await eventOf<Executed>(done.txHash, 'MarketExecuted')
    compareRates(preview, executed.priceImpact)
    const fees = await holdingFeesIn(done.txHash)
    comparePayout(preview, executed.amountSentToTrader, fees, 'close')
    const units = (amount: string): bigint => parseUnits(amount, decimalsOf(preview))
    // A full close pays out everything: the price profit and what all fees leave.
    const withFees = units(preview.payout) + units(preview.fundingFee) + units(preview.borrowingFee)
    assert.equal(executed.amountSentToTrader + fees, withFees)
    seen.closed += 1
  }

  for (let n = 1; n <= ROUNDS; n += 1) {
    it(`is what happens to position ${n}: opened, closed in part, closed`, async () => {
      const market = n === 1 ? world.markets.find(({ symbol }) => symbol === 'SOL/USD')! : random.pick(world.markets)
      const mark = await world.moveMark(market, market.basePrice * between(0.99, 1.01))
      if (random.chance(0.7)) await world.addVolume({ market, long: random.chance(0.5), mark }, between(2_000, 20_000))
      const body = draw(market)
      const { id, preview } = await open(n % 2 === 0 ? withStops(body, market) : body)
      await world.moveMark(market, market.basePrice * between(0.99, 1.01))
      await closePart(id, preview, market)
      await closeAll(id)
    })
  }

  for (const resting of [
    { side: 'long', type: 'limit', price: '59000', sl: '50000' },
    { side: 'short', type: 'stop', price: '59000', sl: '70000', tp: '41000' },
  ]) {
    it(`is what happens to a ${resting.type} order that rests, once its price is reached`, async () => {
      const market = world.markets.find(({ symbol }) => symbol === 'BTC/USD')!
      const mark = await world.moveMark(market, market.basePrice)
      // Others make a skew, which moves the trigger against the oracle's price.
      await world.addVolume({ market, long: true, mark }, 15_000)
      const body = { ...draw(market), ...resting, leverage: '10' }
      await world.pauseKeeper(true)
      const { preview, done } = await desk.still(
        () => desk.order(body),
        async () => {
          await world.pauseKeeper(true)
          const { id } = await desk.client.trade(body, 'open')
          await world.moveMark(market, 58_500)
          await world.pauseKeeper(false)
          const order = await desk.client.orderOnce(id, ({ status }) => status === 'filled')
          await world.moveMark(market, market.basePrice)
          return { order, txHash: order.fill!.txHash as Hex }
        },
      )
      compareFill(preview, done.order)
      await compareOpened(preview, done.txHash)
      seen.rested += 1
      await closeAll(done.order.fill!.positionId!)
    })
  }

  it('is what happens to several positions that one order reduces', async () => {
    const market = world.markets.find(({ symbol }) => symbol === 'ETH/USD')!
    await world.moveMark(market, market.basePrice)
    const body = { ...draw(market), side: 'long', collateral: 'USDC' }
    const first = await open(body)
    const second = await open({ ...body, leverage: '4.5' })
    await world.moveMark(market, market.basePrice * 1.004)
    const size = (Number(first.preview.size) + Number(second.preview.size) / 2).toFixed(market.sizePrecision)
    const reduction = { ...body, side: 'short', size, reduceOnly: true }
    const { preview, done } = await desk.still(
      () => desk.order(reduction),
      () => trade(reduction),
    )
    compareFill(preview, done.order)
    assert.deepEqual(
      preview.legs.map(({ positionId, reason }) => [positionId, reason]),
      [
        [first.id, null],
        [second.id, null],
      ],
    )
    await closeAll(second.id)
  })

  it('is what happens to a changed leverage and to stops', async () => {
    const market = world.markets.find(({ symbol }) => symbol === 'BTC/USD')!
    await world.moveMark(market, market.basePrice)
    const collateral = random.pick(['USDC', 'WETH', 'DAI'])
    const amount = collateral === 'WETH' ? '0.007' : '17.5'
    const { id } = await open({ ...draw(market), side: 'long', leverage: '10', collateral })
    for (const body of [
      { leverage: '5' },
      { removeCollateral: amount },
      { addCollateral: amount },
      { leverage: '9.5' },
    ]) {
      const preview = await desk.position(id, body)
      const action = 'addCollateral' in body ? 'add' : 'remove'
      const asked = 'leverage' in body ? body : { collateral: { action, amount } }
      const { args } = await changeBy(id, asked)
      const { values } = args
      const units = (text: string): bigint => parseUnits(text, world.chain.collateral(collateral).decimals)
      assert.equal(args.cancelReason, 0)
      assert.equal(units(preview.collateral), values.newCollateralAmount)
      assert.equal(parseUnits(preview.leverage, 3), values.newLeverage)
      assert.equal(units(preview.feeCollateral), values.govFeeCollateral)
      assert.equal(units(preview.deposit) + units(preview.payout), args.collateralDelta)
      compareNear(parseUnits(preview.liquidationPrice, 10), values.newLiqPrice)
    }
    const stops = await desk.position(id, { sl: '40000', tp: '70000' })
    const { body: prepared } = await desk.client.request('updatePosition', 'PATCH', `/positions/${id}`, {
      sl: '40000',
      tp: '70000',
    })
    const txHash = await desk.client.broadcast(prepared.transaction)
    const { newSl } = await eventOf<{ readonly newSl: bigint }>(txHash, 'TradeSlUpdated')
    assert.deepEqual([parseUnits(stops.sl, 10), stops.tp], [newSl, '70000'])
    assert.notEqual(stops.sl, '40000')
    await closeAll(id)
  })

  async function changeBy(id: string, body: object): Promise<{ readonly args: LeverageChanged }> {
    const answer = await desk.client.request('updatePosition', 'PATCH', `/positions/${id}`, body)
    assert.equal(answer.status, 200, JSON.stringify(answer.body))
    const asked = await desk.client.broadcast(answer.body.transaction)
    const { blockNumber } = await world.chain.client.getTransactionReceipt({ hash: asked })
    const event = await world.chain.event(
      (one) => one.eventName === 'LeverageUpdateExecuted' && one.blockNumber >= blockNumber,
    )
    return { args: event.args as never }
  }

  it('says for which reason an order would be refused', async () => {
    const market = world.markets.find(({ symbol }) => symbol === 'BTC/USD')!
    await world.moveMark(market, market.basePrice)
    const body = { ...draw(market), slippage: '0.001' }
    const { reason, size } = await desk.order(body)
    assert.deepEqual([reason, size], ['SLIPPAGE', '0'])
    const order = await desk.client.trade(body, 'rejected')
    assert.equal(order.reason, reason)
  })

  it('was compared in every way', () => {
    console.log(JSON.stringify(seen))
    assert.ok(seen.opened >= ROUNDS + 3 && seen.parts === ROUNDS && seen.closed >= ROUNDS + 4 && seen.rested === 2)
  })
})
