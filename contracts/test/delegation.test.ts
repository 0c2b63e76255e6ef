import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { diamondAbi } from '@bezel/protocol'
import { encodeFunctionData, erc20Abi, zeroAddress, type Address, type Hex } from 'viem'
import { AGENTS, KEEPER, PUBLISHED_ACCOUNTS } from '../../packages/devnet/src/deploy/accounts.ts'
import { sharedWorld } from './sharedWorld.ts'
import {
  ALICE,
  assertReverts,
  balanceOf,
  BOB,
  BTC,
  eventNames,
  flatten,
  openPosition,
  packTrigger,
  placeOrder,
  TRIGGER,
  usd,
  USDC,
  usdc,
  VECTOR_TRADE,
} from './trading.ts'
import { onlyEvent, RevertedError } from './world.ts'

const AGENT = AGENTS[0]!.account
const OTHER_AGENT = AGENTS[1]!.account
const RELAYER = PUBLISHED_ACCOUNTS.find(({ name }) => name === 'relayer')!.account

const world = sharedWorld(async (prepared) => {
  await flatten(prepared, BTC)
  await prepared.send(ALICE, 'setTradingDelegate', [AGENT.address])
})

const openTradeCall = encodeFunctionData({
  abi: diamondAbi,
  functionName: 'openTrade',
  args: [VECTOR_TRADE, 1_000, zeroAddress],
})
const closeCall = (index: number, price = usd(60_000)) =>
  encodeFunctionData({ abi: diamondAbi, functionName: 'closeTradeMarket', args: [index, price] })
const triggerCall = (trader: Address) =>
  encodeFunctionData({
    abi: diamondAbi,
    functionName: 'triggerOrder',
    args: [packTrigger(TRIGGER.liq, trader, 0)],
  })
const multicallOf = (data: Hex[]) => encodeFunctionData({ abi: diamondAbi, functionName: 'multicall', args: [data] })
const wrapped = (trader: Address, data: Hex) =>
  encodeFunctionData({ abi: diamondAbi, functionName: 'delegatedTradingAction', args: [trader, data] })
const asAgent = (data: Hex) => world().send(AGENT, 'delegatedTradingAction', [ALICE.address, data])

/** Returns the data that a call reverts with. */
async function revertData(from: Address, data: Hex): Promise<Hex> {
  const call = world().chain.request('eth_call', [{ from, to: world().plan.diamond, data }, 'latest'])
  const reason = await call.then(
    () => assert.fail('did not revert'),
    (error: { data?: Hex }) => error.data,
  )
  return reason ?? '0x'
}

describe('a delegate', () => {
  it('acts for the trader: the order is his, the collateral comes from him', async () => {
    const before = await balanceOf(world(), ALICE.address)
    const outcome = await asAgent(openTradeCall)
    assert.equal(onlyEvent(outcome, 'MarketOrderInitiated').trader, ALICE.address)
    assert.equal((await balanceOf(world(), ALICE.address)) - before, -usdc(100))
    assert.equal(await balanceOf(world(), AGENT.address), 0n)
    const executed = onlyEvent(await world().answer({ user: ALICE.address, index: 0 }, usd(60_000)), 'MarketExecuted')
    assert.equal(executed.user, ALICE.address)
  })

  it('is the one the trader named last, until he takes the right back', async () => {
    await world().send(ALICE, 'setTradingDelegate', [OTHER_AGENT.address])
    await assertReverts(asAgent(openTradeCall), 'DelegateNotApproved')
    await world().send(OTHER_AGENT, 'delegatedTradingAction', [ALICE.address, openTradeCall])
    await world().send(ALICE, 'removeTradingDelegate', [])
    assert.equal(await world().read('getTradingDelegate', [ALICE.address]), zeroAddress)
    const refused = world().send(OTHER_AGENT, 'delegatedTradingAction', [ALICE.address, openTradeCall])
    await assertReverts(refused, 'DelegateNotApproved')
  })

  it('is nobody for a trader who named none, not even the trader itself', async () => {
    await assertReverts(
      world().send(AGENT, 'delegatedTradingAction', [BOB.address, openTradeCall]),
      'DelegateNotApproved',
    )
    await assertReverts(
      world().send(ALICE, 'delegatedTradingAction', [ALICE.address, openTradeCall]),
      'DelegateNotApproved',
    )
  })

  it('is set and removed without an event; the zero address is refused', async () => {
    assert.deepEqual(eventNames(await world().send(BOB, 'setTradingDelegate', [AGENT.address])), [])
    assert.deepEqual(eventNames(await world().send(BOB, 'removeTradingDelegate', [])), [])
    await assertReverts(world().send(BOB, 'setTradingDelegate', [zeroAddress]), 'ZeroAddress')
  })

  it('names a delegate of its own when it wraps setTradingDelegate: that acts on msg.sender', async () => {
    const set = encodeFunctionData({
      abi: diamondAbi,
      functionName: 'setTradingDelegate',
      args: [OTHER_AGENT.address],
    })
    await asAgent(set)
    assert.equal(await world().read('getTradingDelegate', [ALICE.address]), AGENT.address)
    assert.equal(await world().read('getTradingDelegate', [AGENT.address]), OTHER_AGENT.address)
    await asAgent(encodeFunctionData({ abi: diamondAbi, functionName: 'removeTradingDelegate' }))
    assert.equal(await world().read('getTradingDelegate', [ALICE.address]), AGENT.address)
    assert.equal(await world().read('getTradingDelegate', [AGENT.address]), zeroAddress)
  })

  it('can wrap a multicall', async () => {
    const outcome = await asAgent(multicallOf([openTradeCall, openTradeCall]))
    assert.deepEqual(outcome.events.filter(({ eventName }) => eventName === 'MarketOrderInitiated').length, 2)
    const counter = await world().read('getCounters', [ALICE.address, 1])
    assert.deepEqual([counter.currentIndex, counter.openCount], [2, 2])
  })

  it('can send wrapped calls for several traders in one multicall of its own', async () => {
    await world().send(BOB, 'setTradingDelegate', [AGENT.address])
    await world().send(AGENT, 'multicall', [
      [wrapped(ALICE.address, openTradeCall), wrapped(BOB.address, openTradeCall)],
    ])
    for (const { address } of [ALICE, BOB]) {
      assert.equal((await world().read('getPendingOrders', [address])).length, 1)
    }
  })

  it('can not wrap itself, nor triggerOrder, nor either of them inside a multicall', async () => {
    await world().send(AGENT, 'setTradingDelegate', [AGENT.address])
    for (const inner of [wrapped(AGENT.address, openTradeCall), triggerCall(ALICE.address)]) {
      await assertReverts(asAgent(inner), 'DelegatedActionNotAllowed')
      await assertReverts(asAgent(multicallOf([inner])), 'DelegatedActionNotAllowed')
      await assertReverts(asAgent(multicallOf([multicallOf([inner])])), 'DelegatedActionNotAllowed')
    }
  })

  it('leaves no trace: the next call of the agent is its own again', async () => {
    await asAgent(openTradeCall)
    await assertReverts(world().send(AGENT, 'closeTradeMarket', [0, 1n]), 'DoesntExist')
    await openPosition(world(), ALICE)
    await assertReverts(world().send(AGENT, 'closeTradeMarket', [0, 1n]), 'DoesntExist')
    await assertReverts(world().send(KEEPER.account, 'cancelOrderAfterTimeout', [0]), 'NoOrder')
  })

  it('hears the inner revert unchanged, through a multicall too', async () => {
    await openPosition(world(), ALICE)
    await asAgent(closeCall(0))
    const direct = await revertData(ALICE.address, closeCall(0))
    assert.equal(direct.length, 2 + 8 + 64, 'selector and one argument')
    for (const data of [closeCall(0), multicallOf([closeCall(0)])]) {
      assert.equal(await revertData(AGENT.address, wrapped(ALICE.address, data)), direct)
    }
    const unknown = wrapped(ALICE.address, '0xdeadbeef')
    assert.equal(await revertData(AGENT.address, unknown), await revertData(AGENT.address, '0xdeadbeef'))
    await assertReverts(asAgent('0x'), 'NotFound')
    await world().send(ALICE, 'setTradingDelegate', [AGENT.address])
    const poor = encodeFunctionData({
      abi: diamondAbi,
      functionName: 'openTrade',
      args: [{ ...VECTOR_TRADE, collateralAmount: usdc(10_000_000) }, 1_000, zeroAddress],
    })
    const reason = await revertData(AGENT.address, wrapped(ALICE.address, poor))
    assert.equal(reason, await revertData(ALICE.address, poor), "the token's own error")
    assert.equal(reason.length, 2 + 8 + 3 * 64)
  })

  it('may append bytes to any calldata: the Diamond ignores what follows the arguments', async () => {
    const tagged = `${openTradeCall}${'b2e1'.repeat(20)}` as const
    await world().sendData(ALICE, world().plan.diamond, tagged)
    await asAgent(tagged)
    await world().sendData(AGENT, world().plan.diamond, `${wrapped(ALICE.address, tagged)}c0ffee`)
    await asAgent(multicallOf([tagged, tagged]))
    assert.equal((await world().read('getPendingOrders', [ALICE.address])).length, 5)
  })
})

describe('the key of the relayer alone', () => {
  const asRelayer = (trader: Address, data: Hex) => world().send(RELAYER, 'delegatedTradingAction', [trader, data])

  it('moves nothing of a trader who did not name it, whatever it calls', async () => {
    const { index } = await openPosition(world(), BOB)
    const before = await balanceOf(world(), BOB.address)
    for (const call of [
      openTradeCall,
      closeCall(index),
      multicallOf([openTradeCall]),
      multicallOf([closeCall(index)]),
    ]) {
      await assertReverts(asRelayer(BOB.address, call), 'DelegateNotApproved')
    }
    await assert.rejects(world().send(RELAYER, 'closeTradeMarket', [index, usd(60_000)]), RevertedError)
    await assert.rejects(world().sendData(RELAYER, world().plan.diamond, wrapped(BOB.address, closeCall(index))))
    assert.equal(await balanceOf(world(), BOB.address), before)
    assert.equal((await world().read('getTrade', [BOB.address, index])).isOpen, true)
  })

  it('takes no tokens, also of a trader who named it', async () => {
    await world().send(ALICE, 'setTradingDelegate', [RELAYER.address])
    const before = await balanceOf(world(), ALICE.address)
    const token = world().plan.collaterals.find(({ index }) => index === USDC)!.address
    const takes = [
      encodeFunctionData({ abi: erc20Abi, functionName: 'transferFrom', args: [ALICE.address, RELAYER.address, 1n] }),
      encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [RELAYER.address, 1n] }),
      encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [RELAYER.address, 1n] }),
    ]
    await assert.rejects(world().sendData(RELAYER, token, takes[0]!), RevertedError)
    for (const take of takes) await assert.rejects(asRelayer(ALICE.address, take), RevertedError)
    assert.equal(await balanceOf(world(), ALICE.address), before)
    await asRelayer(ALICE.address, openTradeCall)
    const opened = onlyEvent(await world().answer({ user: ALICE.address, index: 0 }, usd(60_000)), 'MarketExecuted')
    await asRelayer(ALICE.address, closeCall(opened.index))
    await world().answer({ user: ALICE.address, index: 1 }, usd(60_000))
    assert.equal(await balanceOf(world(), RELAYER.address), 0n)
    assert.ok((await balanceOf(world(), ALICE.address)) > before - usdc(100), 'the collateral went back to the trader')
  })
})

describe('multicall', () => {
  it('runs up to 20 calls and refuses 21 with AboveMax', async () => {
    const call = encodeFunctionData({ abi: diamondAbi, functionName: 'removeTradingDelegate' })
    await world().send(ALICE, 'multicall', [Array.from({ length: 20 }, () => call)])
    await assertReverts(world().send(ALICE, 'multicall', [Array.from({ length: 21 }, () => call)]), 'AboveMax')
  })

  it('is all or nothing', async () => {
    const index = await placeOrder(world(), ALICE, {})
    const cancel = encodeFunctionData({ abi: diamondAbi, functionName: 'cancelOpenOrder', args: [index] })
    await assertReverts(world().send(ALICE, 'multicall', [[cancel, cancel]]), 'DoesntExist')
    assert.equal((await world().read('getTrade', [ALICE.address, index])).isOpen, true)
  })
})

describe('the reentrancy lock', () => {
  it('refuses a call into the Diamond from a contract that the Diamond calls', async () => {
    // A price feed that calls removeTradingDelegate() on the Diamond and reverts with the data that the call returned.
    const diamond = world().plan.diamond.slice(2)
    const code = `0x63031c722b60e01b6000526000600060046000600073${diamond}5af13d600060003e3d6000fd`
    const feed = '0x00000000000000000000000000000000000feed0'
    await world().chain.request('hardhat_setCode', [feed, code])
    await world().configure('setCollateralUsdPriceFeed', [VECTOR_TRADE.collateralIndex, feed])
    const open = world().send(ALICE, 'openTrade', [VECTOR_TRADE, 1_000, zeroAddress])
    await assertReverts(open, 'ReentrancyGuardReentrantCall')
    assert.equal(await world().read('getReentrancyLock', []), 0n)
  })
})
