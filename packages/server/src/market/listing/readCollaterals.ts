import { NodeUnavailableError } from '../../ground/unavailable.ts'
import { parseAddress, type Address } from '@bezel/protocol'
import { decodeFunctionResult, encodeFunctionData, erc20Abi, type Hex } from 'viem'
import type { CallRound, Later } from '../../chain/callRound.ts'
import type { DiamondCall } from '../../chain/diamondCalls.ts'
import type { ListedCollateral } from '../../trading/market/chainMarkets.ts'

/** As `getCollaterals` gives it; its place is the index less one. */
export interface DiamondCollateral {
  readonly collateral: Hex
  readonly isActive: boolean
  readonly precision: bigint
  readonly precisionDelta: bigint
}

/** A collateral with the scales the Diamond counts it in. */
export type ScaledCollateral = ListedCollateral & Pick<DiamondCollateral, 'precision' | 'precisionDelta'>

/** Asks each token for its symbol; its decimals are those the Diamond counts with. */
export function readCollaterals(
  round: CallRound,
  found: readonly DiamondCollateral[],
  block: Hex,
): Later<readonly ScaledCollateral[]> {
  const symbols = found.map(({ collateral }) => round.add(symbolCall(collateral, block)))
  return () =>
    found.map(({ collateral, isActive, precision, precisionDelta }, at) => ({
      index: at + 1,
      symbol: symbols[at]!(),
      address: parseAddress(collateral) as Address,
      decimals: decimalsOf(precision),
      isActive,
      precision,
      precisionDelta,
    }))
}

/** `precision` is a power of ten. */
function decimalsOf(precision: bigint): number {
  return precision.toString().length - 1
}

function symbolCall(token: Hex, block: Hex): DiamondCall<string> {
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'symbol' })
  return {
    call: { method: 'eth_call', params: [{ to: token, data }, block] },
    decode(outcome) {
      try {
        if (outcome.ok) {
          return decodeFunctionResult({ abi: erc20Abi, functionName: 'symbol', data: outcome.result as Hex })
        }
      } catch (error) {
        throw new NodeUnavailableError(`the symbol of ${token} can't be read`, { cause: error })
      }
      throw new NodeUnavailableError(`the symbol of ${token} failed: ${outcome.message}`)
    },
  }
}
