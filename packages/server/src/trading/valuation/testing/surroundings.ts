import { Price } from '@bezel/protocol'
import { encodeFunctionData, parseAbi } from 'viem'
import { DEPLOYER } from '../../../../../devnet/src/deploy/accounts.ts'
import { COLLATERAL_INDICES, nearby, PAIR_INDICES, priceOf, type Campaign } from './campaign.ts'
import { comparePending } from './viewComparisons.ts'
import { COLLATERAL, PAIR } from './prepareChain.ts'

const FEED_ABI = parseAbi(['function set(int256 price)'])

/** Moves every price by a step, now and then a large one. */
export function movePrices(c: Campaign): void {
  for (const pairIndex of PAIR_INDICES) {
    const liveliness = pairIndex === PAIR.EUR ? 10 : 1
    const maxPpm = (c.random.chance(0.25) ? 60_000 : 3_000) / liveliness
    c.prices.set(pairIndex, nearby(c, priceOf(c, pairIndex), maxPpm))
  }
}

/** Lets time pass: the values computed from the state before must equal those of the views afterwards. */
export async function passTime(c: Campaign): Promise<void> {
  const anywhere = { pairIndex: c.random.pick(PAIR_INDICES), collateralIndex: c.random.pick(COLLATERAL_INDICES) }
  const { pairIndex, collateralIndex } = c.held.length > 0 ? c.random.pick(c.held) : anywhere
  const before = await c.reader.market(DEPLOYER.account.address, pairIndex, collateralIndex)
  await c.world.chain.request('evm_increaseTime', [c.random.logInt(1, 20_000)])
  await c.world.chain.request('hardhat_mine', [`0x${c.random.int(1, 8).toString(16)}`])
  await comparePending(c, pairIndex, collateralIndex, before)
}

/** Moves the price of a collateral, also that of a stable one. */
export async function moveCollateralPrice(c: Campaign): Promise<void> {
  const collateralIndex = c.random.pick([COLLATERAL.WETH, COLLATERAL.USDC])
  const feed = await c.world.read('getCollateralUsdPriceFeed', [collateralIndex])
  const priceUsd = await c.world.read('getCollateralPriceUsd', [collateralIndex])
  const data = encodeFunctionData({ abi: FEED_ABI, functionName: 'set', args: [nearby(c, Price.of(priceUsd), 20_000)] })
  await c.world.sendData(DEPLOYER.account, feed, data)
}
