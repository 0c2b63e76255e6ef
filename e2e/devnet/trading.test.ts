import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { diamondAbi, PendingOrderType } from '@bezel/protocol'
import { encodeFunctionData, erc20Abi, zeroAddress, type Address } from 'viem'
import {
  argsOf,
  createChainClient,
  P10,
  tradeOf,
  type ChainClient,
  type ReceiptEvent,
} from '@bezel/testkit/chainClient.ts'
import { startDevnet, type RunningDevnet } from '@bezel/testkit/startDevnet.ts'

/** Returns a predicate for events of one name and trader. */
function is(eventName: string, trader: Address, more: (args: Record<string, unknown>) => boolean = () => true) {
  return (event: ReceiptEvent): boolean => {
    const args = argsOf(event)
    return event.eventName === eventName && (args.user ?? args.trader) === trader && more(args)
  }
}

function hasIndex(index: number) {
  return ({ orderId }: Record<string, unknown>): boolean => (orderId as { index: number }).index === index
}

describe('trading on the local chain, as a wallet sees it', () => {
  let devnet: RunningDevnet
  let chain: ChainClient

  before(async () => {
    devnet = await startDevnet({ DEVNET_BLOCK_MS: '50', DEVNET_ORACLE_DELAY_MS: '100' })
    chain = createChainClient(devnet.file)
    await chain.control('bezel_freezePrice', 'BTC/USD', true)
    await chain.control('bezel_setPrice', 'BTC/USD', '60000')
  })
  after(() => devnet.stop())

  async function open(name: string, terms: Omit<Parameters<typeof tradeOf>[2], 'price'> & { price?: bigint } = {}) {
    const trader = chain.account(name)
    const trade = tradeOf(chain, trader.address, { price: 60_000n, ...terms })
    await chain.send(trader, 'openTrade', [trade, 1000, zeroAddress])
    return trader
  }

  async function balance(holder: Address): Promise<bigint> {
    const { address } = chain.collateral('USDC')
    return chain.client.readContract({ address, abi: erc20Abi, functionName: 'balanceOf', args: [holder] })
  }

  function pendingOrders(user: Address) {
    return chain.client.readContract({
      address: chain.diamond,
      abi: diamondAbi,
      functionName: 'getPendingOrders',
      args: [user],
    })
  }

  it('fills a market order in two steps and pays out its close', async () => {
    const trader = await open('trader-1')
    const opened = await chain.event(is('MarketExecuted', trader.address))
    assert.equal((opened.args as { oraclePrice: bigint }).oraclePrice, 60_000n * P10)

    const held = await balance(trader.address)
    await chain.send(trader, 'closeTradeMarket', [0, 60_000n * P10])
    const closed = await chain.event(is('MarketExecuted', trader.address, (args) => args.open === false))
    const { amountSentToTrader } = closed.args as { amountSentToTrader: bigint }
    assert.ok(amountSentToTrader > 0n)
    assert.equal(await balance(trader.address), held + amountSentToTrader)
  })

  it('lets the agent trade for a trader once it is its delegate, and not before', async () => {
    const trader = chain.account('trader-2')
    const agent = chain.account('agent-1')
    const trade = tradeOf(chain, trader.address, { price: 60_000n })
    const inner = encodeFunctionData({ abi: diamondAbi, functionName: 'openTrade', args: [trade, 1000, zeroAddress] })
    await assert.rejects(chain.send(agent, 'delegatedTradingAction', [trader.address, inner]), /DelegateNotApproved/)
    await chain.send(trader, 'setTradingDelegate', [agent.address])
    await chain.send(agent, 'delegatedTradingAction', [trader.address, inner])
    await chain.event(is('MarketExecuted', trader.address))
  })

  it('executes a limit order exactly at its trigger when the price comes through it', async () => {
    const trader = await open('trader-3', { price: 59_000n, tradeType: 1 })
    await chain.event(is('OpenOrderPlaced', trader.address))
    await chain.control('bezel_setPrice', 'BTC/USD', '58900')
    const executed = await chain.event(is('LimitExecuted', trader.address))
    const args = argsOf(executed)
    assert.equal(args.orderType, PendingOrderType.LIMIT_OPEN)
    assert.equal(args.exactExecution, true)
    assert.equal(args.limitIndex, 0)
    assert.equal(args.index, 1)
    await chain.control('bezel_setPrice', 'BTC/USD', '60000')
  })

  it('closes by take profit, by stop loss and by liquidation', async () => {
    const trader = await open('trader-4', { tp: 61_000n })
    await open('trader-4', { sl: 59_500n })
    await open('trader-4', { leverage: 50_000 })
    const opened = is('MarketExecuted', trader.address, ({ index }) => index === 2)
    await chain.event(opened)
    const closedBy = (orderType: number) =>
      chain.event(is('LimitExecuted', trader.address, (args) => args.orderType === orderType))
    await chain.control('bezel_setPrice', 'BTC/USD', '61100')
    await closedBy(PendingOrderType.TP_CLOSE)
    await chain.control('bezel_setPrice', 'BTC/USD', '59400')
    await closedBy(PendingOrderType.SL_CLOSE)
    await chain.control('bezel_setPrice', 'BTC/USD', '58000')
    const liquidated = await closedBy(PendingOrderType.LIQ_CLOSE)
    assert.equal((liquidated.args as { amountSentToTrader: bigint }).amountSentToTrader, 0n)
    await chain.control('bezel_setPrice', 'BTC/USD', '60000')
  })

  it('liquidates what its holding fees have used up, while the price stands still', async () => {
    const trader = await open('trader-4', { leverage: 50_000 })
    const opened = await chain.event(is('MarketExecuted', trader.address, ({ index }) => index === 3))
    await chain.control('evm_increaseTime', 90 * 86_400)
    const liquidated = await chain.event(
      (event) =>
        event.blockNumber > opened.blockNumber &&
        is('LimitExecuted', trader.address, ({ orderType }) => orderType === PendingOrderType.LIQ_CLOSE)(event),
    )
    assert.equal((liquidated.args as { amountSentToTrader: bigint }).amountSentToTrader, 0n)
  })

  it('returns everything when the oracles stay silent past the timeout', async () => {
    await chain.control('bezel_pauseOracle', true)
    const start = await balance(chain.account('trader-5').address)
    const trader = await open('trader-5')
    await assert.rejects(chain.send(trader, 'cancelOrderAfterTimeout', [0]), /WaitTimeout/)
    await chain.control('hardhat_mine', 200)
    await chain.send(trader, 'cancelOrderAfterTimeout', [0])
    assert.equal(await balance(trader.address), start)
    await chain.control('bezel_pauseOracle', false)
  })

  it('answers again after a reorganisation took the answer away', async () => {
    await chain.control('bezel_pauseOracle', true)
    const trader = await open('trader-5', { collateral: 200_000_000n })
    const requested = await chain.event(is('MarketOrderInitiated', trader.address, hasIndex(1)))
    await chain.control('hardhat_mine', 2)
    await chain.control('bezel_pauseOracle', false)
    const answered = await chain.event(is('MarketExecuted', trader.address, hasIndex(1)))
    await chain.control('bezel_reorgFrom', Number(requested.blockNumber) + 1, 'drop')
    const again = await chain.event(
      (event) => is('MarketExecuted', trader.address, hasIndex(1))(event) && event.blockHash !== answered.blockHash,
    )
    assert.ok(again.blockNumber > requested.blockNumber)
  })

  it('does not answer for a closed market', async () => {
    await chain.control('bezel_setMarketOpen', 'BTC/USD', false)
    const trader = await open('trader-3')
    await chain.control('hardhat_mine', 60)
    assert.equal((await pendingOrders(trader.address)).length, 1)
    await chain.control('bezel_setMarketOpen', 'BTC/USD', null)
    await chain.event(is('MarketExecuted', trader.address))
  })

  it('funds a stranger from the faucet', async () => {
    const stranger: Address = `0x${'5a'.repeat(20)}`
    await chain.control('bezel_faucet', stranger)
    assert.equal(await balance(stranger), 1_000_000_000_000n)
    assert.equal(await chain.client.getBalance({ address: stranger }), 100n * 10n ** 18n)
  })

  it('refuses bad controls with a JSON-RPC error that says what is wrong', async () => {
    await assert.rejects(chain.control('bezel_setPrice', 'NOPE/USD', '1'), /NOPE\/USD/)
    await assert.rejects(chain.control('bezel_setPrice', 'BTC/USD', 'abc'), /decimal string/)
    await assert.rejects(chain.control('bezel_setPrice', 'BTC/USD', 5), /must be a string, not 5/)
    await assert.rejects(chain.control('bezel_freezePrice', 'BTC/USD'), /true or false, not nothing/)
    await assert.rejects(chain.control('bezel_faucet', '0x12'), /must be an address/)
    await assert.rejects(chain.control('bezel_setOracleDelay', -1), /whole number/)
    await assert.rejects(chain.control('bezel_reorg', 0, 'drop'), /depth/)
    await assert.rejects(chain.control('bezel_nothing'), /bezel_nothing/)
  })
})
