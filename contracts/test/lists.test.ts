import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { numberToHex, pad, zeroAddress, type Address, type Hex } from 'viem'
import { DEPLOYER } from '../../packages/devnet/src/deploy/accounts.ts'
import { signTransaction } from '../../packages/devnet/src/deploy/createWallet.ts'
import { createDeployment } from '../deployment.ts'
import { encodePopulate, type PopulatedTrader } from '../populate.ts'
import { sharedWorld } from './sharedWorld.ts'
import { ALICE, BOB, BTC, LIMIT, LINK, placeOrder, usd } from './trading.ts'
import type { World } from './world.ts'

const TRADERS: readonly PopulatedTrader[] = [7, 1, 3].map((trades, i) => ({ trader: addressOf(i), trades }))
const [FIRST, SECOND, THIRD] = TRADERS.map(({ trader }) => trader) as [Address, Address, Address]
/** The number of their trades. */
const OPEN = 11
const MARKETS = [
  { pairIndex: BTC, price: usd(60_000) },
  { pairIndex: LINK, price: usd(20) },
]

const world = sharedWorld(async (prepared) => {
  const populate = await deploy(prepared, 'Populate')
  await prepared.sendData(DEPLOYER.account, prepared.plan.diamond, encodePopulate(populate, TRADERS, MARKETS))
})

/** Deploys a contract, with its libraries, beside the Diamond. */
async function deploy({ chain }: World, contractName: string): Promise<Address> {
  const count = await chain.request<Hex>('eth_getTransactionCount', [DEPLOYER.account.address, 'pending'])
  const deployment = createDeployment(DEPLOYER.account.address, Number(count))
  const address = deployment.deploy(contractName)
  for (const [i, transaction] of deployment.transactions.entries()) {
    const raw = await signTransaction(chain, DEPLOYER.account, { ...transaction, nonce: Number(count) + i })
    await chain.request('eth_sendRawTransaction', [raw])
  }
  await chain.mine()
  return address
}

function addressOf(i: number): Address {
  return pad(numberToHex(0xa0001 + i), { size: 20 })
}

const lower = (addresses: readonly Address[]) => addresses.map((address) => address.toLowerCase())

describe('lists of the Diamond', () => {
  it('count traders by their place, leave out those without anything open, and fill up with zero addresses', async () => {
    for (const account of [BOB, ALICE]) await placeOrder(world(), account, { tradeType: LIMIT })
    const [alice, bob] = lower([ALICE.address, BOB.address])
    assert.equal(await world().read('getTradersCount', []), 5n)
    assert.deepEqual(lower(await world().read('getTraders', [0, 0])), [FIRST, SECOND, THIRD, bob, alice])
    assert.deepEqual(lower(await world().read('getTraders', [3, 9])), [bob, alice])
    assert.deepEqual(lower(await world().read('getTraders', [1, 1])), [SECOND])
    await world().send(BOB, 'cancelOpenOrder', [0])
    assert.deepEqual(lower(await world().read('getTraders', [0, 0])), [FIRST, SECOND, THIRD, alice, zeroAddress])
    await assert.rejects(world().read('getTraders', [5, 0]))
  })

  it('have as many entries as were asked for, counted over all traders, and empty ones at the end', async () => {
    const all = [FIRST, SECOND, THIRD].map((trader) => world().read('getTrades', [trader]))
    const trades = (await Promise.all(all)).flat()
    assert.equal(trades.length, OPEN)
    assert.deepEqual(await world().read('getAllTrades', [0n, 10n]), trades)
    assert.deepEqual(await world().read('getAllTrades', [0n, 0n]), trades.slice(0, 1))
    assert.deepEqual(await world().read('getAllTrades', [6n, 8n]), trades.slice(6, 9))
    const beyond = await world().read('getAllTrades', [9n, 12n])
    assert.deepEqual(beyond.slice(0, 2), trades.slice(9))
    assert.deepEqual(
      beyond.slice(2).map(({ user, isOpen }) => [user, isOpen]),
      [
        [zeroAddress, false],
        [zeroAddress, false],
      ],
    )
    const some = [THIRD, zeroAddress, SECOND] as const
    assert.deepEqual(await world().read('getAllTradesForTraders', [some, 2n, 3n]), [trades[10], trades[7]])
    await assert.rejects(world().read('getAllTradesForTraders', [some, 2n, 1n]))
  })

  it('give the infos, the liquidation parameters and the requests of the same entries', async () => {
    const traders = [FIRST, SECOND, THIRD]
    const trades = await world().read('getAllTradesForTraders', [traders, 0n, 10n])
    const infos = await world().read('getAllTradeInfosForTraders', [traders, 0n, 10n])
    const params = await world().read('getAllTradesLiquidationParamsForTraders', [traders, 0n, 10n])
    for (const [i, { user, index }] of trades.entries()) {
      assert.deepEqual(infos[i], await world().read('getTradeInfo', [user, index]))
      assert.deepEqual(params[i], await world().read('getTradeLiquidationParams', [user, index]))
    }
    const requests = (await Promise.all(traders.map((trader) => world().read('getPendingOrders', [trader])))).flat()
    const padded = await world().read('getAllPendingOrdersForTraders', [traders, 0n, 3n])
    assert.deepEqual(padded.slice(0, requests.length), requests)
    assert.equal(padded.length, 4)
    assert.ok(padded.slice(requests.length).every(({ isOpen }) => !isOpen))
  })

  it('belong to trades whose holding fees and open interest agree', async () => {
    const trades = (await world().read('getAllTrades', [0n, 10n])).filter(({ tradeType }) => tradeType === 0)
    for (const { collateralIndex, pairIndex } of trades) {
      const sum = { oiLongToken: 0n, oiShortToken: 0n }
      for (const trade of trades) {
        if (trade.collateralIndex !== collateralIndex || trade.pairIndex !== pairIndex) continue
        sum[trade.long ? 'oiLongToken' : 'oiShortToken'] += trade.positionSizeToken
      }
      assert.deepEqual(await world().read('getPairOisAfterV10Token', [[collateralIndex], [pairIndex]]), [sum])
    }
    for (const { user, index, openPrice } of trades) {
      const fees = await world().read('getTradePendingHoldingFeesCollateral', [user, index, openPrice])
      assert.equal(fees.totalFeeCollateral, 0n)
    }
  })
})
