import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { diamondAbi, type FillHistoryEntry } from '@bezel/protocol'
import { ExchangeClient, HttpTransport, InfoClient, SubscriptionClient, WebSocketTransport } from '@nktkas/hyperliquid'
import { call } from '@bezel/testkit/agentClient.ts'
import type { TradingClient } from '@bezel/testkit/tradingClient.ts'
import { until } from '@bezel/testkit/until.ts'
import { erc20Abi, parseUnits } from 'viem'
import { ccxtOf, SYMBOL } from './ccxtClient.ts'
import { startFacadeWorld, type FacadeWorld } from './facadeWorld.ts'
import { patient, patiently, TIMEOUT_MS } from './patience.ts'

type Placed = Awaited<ReturnType<ExchangeClient['order']>>['response']['data']['statuses'][number]

const BTC = 0

/**
 * One position of many trades, with clients from the package registry. Each story continues where the last one ended.
 */
describe('a position that was added to', () => {
  let world: FacadeWorld

  before(async () => {
    world = await startFacadeWorld()
  })
  after(() => world?.stop())

  /** Reads a trader's open trades from the chain itself. */
  async function tradesOf(trader: string) {
    const { client, diamond, account } = world.chain
    const of = { address: diamond, abi: diamondAbi, functionName: 'getTrades' } as const
    const trades = await client.readContract({ ...of, args: [account(trader).address] })
    return trades.filter(({ isOpen, tradeType }) => isOpen && tradeType === 0)
  }

  describe('has one stop, with @nktkas/hyperliquid', () => {
    let info: InfoClient
    let exchange: ExchangeClient
    let socket: WebSocketTransport
    let native: TradingClient
    let stop: number
    /** Units of USDC in the wallet before the first trade. */
    let start: bigint
    const updates: { oid: number; status: string; sz: string }[] = []
    const user = () => world.chain.account('trader-1').address

    before(async () => {
      const transport = new HttpTransport({ apiUrl: `${world.base}/`, timeout: TIMEOUT_MS })
      info = patient(new InfoClient({ transport }))
      exchange = patient(new ExchangeClient({ transport, wallet: world.chain.account('agent-1') }))
      native = await world.clientOf('trader-1', 'trader-1')
      start = await wallet()
      const master = new ExchangeClient({ transport, wallet: world.chain.account('trader-1') })
      const agentAddress = world.chain.account('agent-1').address
      await master.approveAgent({ agentAddress, agentName: 'bot' })
      const { account, send } = world.chain
      await send(account('trader-1'), 'setTradingDelegate', [account('relayer').address])
      socket = new WebSocketTransport({ url: world.socketUrl })
      await new SubscriptionClient({ transport: socket }).orderUpdates({ user: user() }, (told) => {
        for (const { order, status } of told) updates.push({ oid: order.oid, status, sz: order.sz })
      })
      await exchange.updateLeverage({ asset: BTC, isCross: false, leverage: 10 })
    })
    after(() => socket?.close())

    const wallet = (): Promise<bigint> => {
      const { address } = world.chain.collateral('USDC')
      return world.chain.client.readContract({ address, abi: erc20Abi, functionName: 'balanceOf', args: [user()] })
    }
    const placed = async (item: object): Promise<Placed> => {
      const order = { a: BTC, r: false, ...item } as never
      const answer = await exchange.order({ orders: [order], grouping: 'na' })
      return answer.response.data.statuses[0]!
    }
    const held = async () => (await info.clearinghouseState({ user: user() })).assetPositions[0]?.position
    const buy = async (size: string): Promise<void> => {
      const [trades, shown] = [(await tradesOf('trader-1')).length, Number((await held())?.szi ?? 0)]
      const status = await placed({ b: true, p: '63000', s: size, t: { limit: { tif: 'Ioc' } } })
      assert.ok(typeof status === 'object' && !('error' in status), JSON.stringify(status))
      await until('it is bought', async () => (await tradesOf('trader-1')).length > trades)
      await until('it is shown', async () => Number((await held())?.szi ?? 0) > shown)
    }
    const stopItem = (px: string, s: string) => {
      const t = { trigger: { isMarket: true, triggerPx: px, tpsl: 'sl' as const } }
      return { a: BTC, b: false, p: px, s, r: true, t }
    }
    const oidOf = (status: Placed): number =>
      typeof status === 'object' && 'resting' in status ? status.resting.oid : assert.fail(JSON.stringify(status))
    const move = async (px: string): Promise<void> => {
      const order = stopItem(px, (await held())!.szi)
      await exchange.modify({ oid: stop, order })
    }
    const stops = async () => {
      const orders = await info.frontendOpenOrders({ user: user() })
      return orders.filter(({ isTrigger }) => isTrigger).map(({ oid, triggerPx, sz }) => [oid, Number(triggerPx), sz])
    }

    /** Waits for one stop of the whole position: in the list, and on each of the trades of the chain. */
    async function stopIs(usd: number, count: number): Promise<void> {
      const chain = Array.from({ length: count }, () => parseUnits(String(usd), 10))
      const isThere = async (): Promise<boolean> => {
        const expected = usd === 0 ? [] : [[stop, usd, (await held())?.szi]]
        return isDeepStrictEqual([await stops(), (await tradesOf('trader-1')).map(({ sl }) => sl)], [expected, chain])
      }
      await until(`the stop of all ${count} trades is ${usd}`, isThere)
    }

    it('which is for all of it, however often it was added to', async () => {
      await buy('0.05')
      stop = oidOf(await placed(stopItem('55000', (await held())!.szi)))
      await stopIs(55_000, 1)
      for (const [at, size] of ['0.05', '0.03'].entries()) {
        await buy(size)
        await stopIs(55_000, at + 2)
      }
    })

    it('which moves as one, under the same id', async () => {
      await move('56000')
      await stopIs(56_000, 3)
    })

    it('which an order that rested gets when it is executed, as it is by then', async () => {
      oidOf(await placed({ b: true, p: '59000', s: '0.04', t: { limit: { tif: 'Gtc' } } }))
      await until('it rests', async () => (await info.frontendOpenOrders({ user: user() })).length === 2)
      await move('57000')
      await stopIs(57_000, 3)
      await world.moveTo(58_900)
      await stopIs(57_000, 4)
      await world.moveTo(60_000)
    })

    it('which is canceled as one', async () => {
      await exchange.cancel({ cancels: [{ a: BTC, o: stop }] })
      await stopIs(0, 4)
    })

    it('which closes all of it, trade by trade', async () => {
      const { szi } = (await held())!
      const first = stop
      const next = (stop = oidOf(await placed(stopItem('58000', szi))))
      assert.notEqual(next, first)
      await stopIs(58_000, 4)
      await world.moveTo(57_900)
      await until('the position is closed', async () => (await held()) === undefined)
      assert.deepEqual(await tradesOf('trader-1'), [])
      const found = await info.orderStatus({ user: user(), oid: next })
      const { order, status } = found.status === 'order' ? found.order : assert.fail(found.status)
      assert.deepEqual([status, order.sz, order.origSz], ['filled', '0.0', szi])
      const fills = (await info.userFills({ user: user() })).filter(({ oid }) => oid === next)
      assert.equal(fills.length, 4)
      const sold = fills.reduce((sum, { sz }) => sum + Number(sz), 0)
      assert.ok(Math.abs(sold - Number(szi)) < 0.00004, `${sold} of ${szi}`)
      await until('the end is told', () => updates.some(({ oid, status: told }) => oid === next && told === 'filled'))
      const told = updates.filter(({ oid }) => oid === next)
      const statuses = told.map(({ status: of }) => of)
      assert.deepEqual(statuses, [...told.slice(1).map(() => 'open'), 'filled'], JSON.stringify(told))
      assert.equal(updates.findLast(({ oid }) => oid === first)?.status, 'canceled')
    })

    it('which leaves books that add up to what the wallet lost', async () => {
      const units = (text: string | null): bigint => parseUnits(text!, 6)
      const sum = (amounts: readonly bigint[]): bigint => amounts.reduce((total, amount) => total + amount, 0n)
      const [fills, fundings, ledger] = await Promise.all([
        info.userFills({ user: user() }),
        info.userFunding({ user: user() }),
        info.userNonFundingLedgerUpdates({ user: user() }),
      ])
      const told = [
        ...fills.map(({ closedPnl, fee }) => units(closedPnl) - units(fee)),
        ...fundings.map(({ delta }) => units(delta.usdc)),
        ...ledger.map(({ delta }) => {
          assert.equal(delta.type, 'internalTransfer')
          return units(delta.usdc) * (delta.user === user().toLowerCase() ? -1n : 1n)
        }),
      ]
      const entries: FillHistoryEntry[] = (await native.account('/fills', 'listFills')).body.data
      const lost = start - (await wallet())
      assert.deepEqual(
        [-sum(told), -sum(entries.map(({ netPnl }) => units(netPnl)))],
        [lost, lost],
        JSON.stringify({ fills, fundings, ledger, entries }),
      )
      assert.equal(sum(entries.map(({ deposit, payout }) => units(deposit) - units(payout))), lost)
    })
  })

  describe('belongs to a trader who signs for itself, with ccxt', () => {
    let exchange: ReturnType<typeof ccxtOf>
    const agentPath = () => `/v1/arbitrum-sepolia/agents/${world.chain.account('trader-2').address}`

    before(async () => {
      await world.moveTo(60_000)
      exchange = ccxtOf(world, 'trader-2', 'trader-2')
      exchange.timeout = TIMEOUT_MS
      await exchange.loadMarkets()
    })

    it('and is registered as its own agent by the first action once the relayer is its delegate', async () => {
      const early = await exchange.setLeverage(10, SYMBOL).then(
        () => assert.fail('it was done'),
        (error: Error) => error.message,
      )
      assert.match(
        early,
        /does not exist\..* A trader who signs for itself first makes the relayer 0x\w{40} its delegate/,
      )
      assert.equal((await call(world.url(), agentPath())).status, 404)
      const { account, send } = world.chain
      await send(account('trader-2'), 'setTradingDelegate', [account('relayer').address])
      await until('it is seen', () => exchange.setLeverage(10, SYMBOL).catch(() => undefined))
      const { agent } = (await call(world.url(), agentPath())).body
      assert.deepEqual(
        [agent.agent, agent.trader, agent.mode, agent.status],
        [account('trader-2').address, account('trader-2').address, 'relayed', 'active'],
      )
      const [extra] = await world.info({ type: 'extraAgents', user: account('trader-2').address })
      assert.equal(extra.address, account('trader-2').address.toLowerCase())
    })

    const position = async () => (await exchange.fetchPositions([SYMBOL]))[0]
    const margins = async () =>
      (await tradesOf('trader-2')).map(({ collateralAmount }) => Number(collateralAmount) / 1e6)

    /** Asks for a change of margin, and waits until every trade has it. It says so itself when it takes long. */
    async function changeMargin(work: () => Promise<unknown>): Promise<readonly number[]> {
      const start = await margins()
      await patiently(work).catch((error: unknown) => assert.match(String(error), /margin moved so far/))
      await until('all have moved', async () => (await margins()).every((amount, i) => amount !== start[i]))
      return (await margins()).map((amount, i) => amount - start[i]!)
    }

    it('and its margin is that of all its trades', async () => {
      for (const [at, size] of [0.05, 0.1].entries()) {
        await patiently(() => exchange.createOrder(SYMBOL, 'market', 'buy', size, 60_000))
        await until('it is bought', async () => (await tradesOf('trader-2')).length === at + 1)
        await until('it is shown', async () => ((await position())?.contracts ?? 0) > (at === 0 ? 0 : 0.1))
      }
      // A third and two thirds, in steps of 0.001 of leverage.
      const [small, large] = await changeMargin(() => exchange.addMargin(SYMBOL, 90))
      assert.ok(Math.abs(small! - 30) < 0.5 && Math.abs(large! - 60) < 0.5, `${small} and ${large}`)
      for (const amount of await changeMargin(() => exchange.reduceMargin(SYMBOL, 30))) assert.ok(amount < 0)
    })

    it('and is closed with the size that it is told', async () => {
      const { contracts } = (await position())!
      await patiently(() => exchange.createOrder(SYMBOL, 'market', 'sell', contracts!, 60_000, { reduceOnly: true }))
      await until('it is closed', async () => (await tradesOf('trader-2')).length === 0)
    })
  })
})
