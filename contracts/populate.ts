import { encodeFunctionData, type Address, type Hex } from 'viem'
import { loadArtifact } from './artifact.ts'
import { encodeCut } from './diamond.ts'

/** A pair in which trades are opened, around a price in 1e10. */
export type PopulatedMarket = { pairIndex: number; price: bigint }

/** A trader, and the number of trades that it opens. */
export type PopulatedTrader = { trader: Address; trades: number }

/** Encodes the `diamondCut` that opens trades by setup/Populate.sol, which is deployed at `populate`. */
export function encodePopulate(
  populate: Address,
  traders: readonly PopulatedTrader[],
  markets: readonly PopulatedMarket[],
): Hex {
  const args = [traders.map(({ trader }) => trader), traders.map(({ trades }) => trades), markets]
  const data = encodeFunctionData({ abi: loadArtifact('Populate').abi, functionName: 'openTrades', args })
  return encodeCut([], populate, data)
}
