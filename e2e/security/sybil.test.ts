import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { diamondAbi, type MayBeMined } from '@bezel/protocol'
import { call, revocation, send } from '@bezel/testkit/agentClient.ts'
import { until } from '@bezel/testkit/until.ts'
import { privateKeyToAccount } from 'viem/accounts'
import {
  marketOrder,
  restingOrder,
  startSybilWorld,
  stopLoss,
  type FacadeTrader,
  type SybilWorld,
} from './sybilWorld.ts'

// CAMPAIGN=100 lets so many sybils with open positions attack one honest trader.
const SYBILS = Number(process.env['CAMPAIGN'] ?? 3)

/** Few places for unmined transactions, and a fee cap at which the budget is easily counted. */
const RELAYER = { traderDay: '100', day: '1000', maxFeeGwei: '1', maxUnmined: 6 * (SYBILS + 1) }

describe(`a relayer that ${SYBILS} sybils try to keep from others`, { timeout: 300_000 + SYBILS * 20_000 }, () => {
  let world: SybilWorld
  let honest: FacadeTrader
  let sybils: readonly FacadeTrader[]

  before(async () => {
    const service = { BEZEL_FACADE_FILL_WAIT_MS: '100', BEZEL_PREPARED_MARKET_MS: '3600000' }
    world = await startSybilWorld(SYBILS + 1, { relayer: RELAYER, service })
    const [first, ...others] = world.traders
    honest = first!
    sybils = others
  })
  after(() => world?.stop())

  /** Counts what the chain has of a trader: open positions, and resting orders. */
  async function onChain({ address }: FacadeTrader): Promise<{ readonly open: number; readonly resting: number }> {
    const of = { address: world.chain.diamond, abi: diamondAbi } as const
    const trades = await world.chain.client.readContract({ ...of, functionName: 'getTrades', args: [address] })
    const live = trades.filter(({ isOpen }) => isOpen)
    const open = live.filter(({ tradeType }) => tradeType === 0).length
    return { open, resting: live.length - open }
  }

  /** Works for every trader, for a few at a time. */
  async function ofAll(work: (trader: FacadeTrader) => Promise<unknown>): Promise<void> {
    const left = [...world.traders]
    const workers = Array.from({ length: 4 }, async () => {
      for (let trader = left.pop(); trader !== undefined; trader = left.pop()) await work(trader)
    })
    await Promise.all(workers)
  }

  /** Sends an action while nothing is mined. False when it has to wait for others. */
  async function isTaken(trader: FacadeTrader, action: ReturnType<typeof restingOrder>): Promise<boolean> {
    const text = await trader.send(action)
    assert.match(text, /"resting"|wait for the chain/)
    return text.includes('"resting"')
  }

  const openTrades = async (trader: FacadeTrader): Promise<number> => (await onChain(trader)).open
  const usedNonces = (): Promise<number> =>
    world.chain.client.getTransactionCount({ address: world.chain.account('relayer').address })

  /** Waits until everything is mined, as long as the chain goes on. */
  async function allMined(usedBefore = -1): Promise<void> {
    const now = await until('more is mined', async () => {
      const used = await usedNonces()
      const isDone = (await world.metric('bezel_relayer_waiting')) === 0
      return isDone || used > usedBefore ? { used, isDone } : undefined
    })
    if (!now.isDone) await allMined(now.used)
  }

  /** Opens a position of every trader, so that all of them are active and have gas set aside. */
  async function openAll(): Promise<void> {
    await ofAll(async (trader) => {
      await until('an order is taken', async (saw) => {
        const text = await trader.send(marketOrder({ isBuy: true }))
        saw(text)
        return /"(filled|resting)"/.test(text)
      })
      await until('every position is open', async () => (await openTrades(trader)) === 1)
    })
  }

  it('lets the honest one out when they have used up the budget of all', async () => {
    await openAll()
    const used = await world.metric('bezel_relayer_budget_used_wei')
    const aside = await world.metric('bezel_relayer_set_aside_wei')
    assert.ok(aside > 0.9 * used, `${aside} of ${used} wei are set aside`)
    // What is left of the day is for three more orders that open.
    const perOpen = aside / world.traders.length
    await world.restart({ ...RELAYER, day: ((used + 3.5 * perOpen) / 1e18).toFixed(18) })
    const refusals: string[] = []
    for (let round = 0; refusals.length < 2 * SYBILS; round += 1) {
      assert.ok(round < 50, `refused: ${refusals.length}`)
      for (const sybil of sybils) {
        const text = await sybil.send(restingOrder())
        if (/gas budget|Gas budget/.test(text)) refusals.push(text)
      }
    }
    assert.match(await honest.send(restingOrder()), /Gas budget of this service is used up/)
    const ready = (await (await fetch(`${world.url()}/ready`)).json()) as {
      chains: Record<string, { relayerWarning?: string }>
    }
    assert.match(ready.chains['arbitrum-sepolia']?.relayerWarning ?? '', /budget .* nearly used up/)
    assert.equal(await world.metric('bezel_relayer_budget_low'), 1)

    assert.match(await honest.send(stopLoss('55000')), /"resting"/)
    await until('the close is filled', async (saw) => {
      const text = await honest.send(marketOrder({ isBuy: false, r: true }))
      saw(text)
      return /"(filled|resting)"|Reduce only/.test(text)
    })
    await until('the honest position is closed', async () => (await openTrades(honest)) === 0)
    // What was set aside for it is there for others again.
    await until('its gas has returned', async (saw) => {
      const now = await world.metric('bezel_relayer_budget_used_wei')
      saw(now)
      return now < used + 3 * perOpen
    })
  })

  it('gives everybody the same number of places while nothing is mined, and exits beside them', async () => {
    await world.restart(RELAYER)
    assert.match(await honest.send(marketOrder({ isBuy: true })), /"(filled|resting)"/)
    await until('the honest one has a position again', async () => (await openTrades(honest)) === 1)
    await allMined()
    world.hideSent()
    const counts: number[] = []
    await ofAll(async (trader) => {
      let count = 0
      while (await isTaken(trader, restingOrder())) count += 1
      counts.push(count)
    })
    assert.ok(Math.max(...counts) <= 2 * Math.min(...counts), counts.join())
    assert.ok(Math.min(...counts) >= 4, counts.join())
    for (const trader of world.traders)
      assert.match(await trader.send(marketOrder({ isBuy: false, r: true })), /"resting"/)
    world.showSent()
    await allMined()
    await ofAll((trader) => until('every position is closed', async () => (await openTrades(trader)) === 0))
  })

  it('mines nothing of an agent that was revoked while its orders raced with the revocation', async () => {
    await allMined()
    const usedBefore = await usedNonces()
    const { resting } = await onChain(honest)
    world.hideSent()
    assert.match(await honest.send(restingOrder()), /"resting"/)
    await until('the node has it', () => world.hidden().length > 0)
    const [known] = world.hidden()
    const owner = privateKeyToAccount(honest.key)
    const { domain } = (await call(world.url(), '/v1/arbitrum-sepolia')).body.signing
    const sending = [1, 2, 3].map(() => honest.send(restingOrder()))
    const answer = await send(
      world.url(),
      'DELETE',
      `/v1/arbitrum-sepolia/agents/${honest.address}`,
      await revocation(domain, owner, honest.address),
    )
    assert.equal(answer.status, 200, JSON.stringify(answer.body))
    const named = (answer.body.mayStillBeMined as MayBeMined[]).map(({ txHash }) => txHash)
    assert.ok(named.includes(known!), `${known} is not among ${named.join()}`)
    const told = await Promise.all(sending)
    assert.match(await honest.send(restingOrder()), /"err"/)
    world.showSent()
    const accepted = 1 + told.filter((text) => text.includes('"resting"')).length
    await until('every nonce is used', async (saw) => {
      const count = await usedNonces()
      saw(count)
      return count === usedBefore + accepted
    })
    assert.equal((await onChain(honest)).resting, resting)
  })
})
