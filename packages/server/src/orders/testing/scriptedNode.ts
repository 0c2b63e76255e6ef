import { NodeUnavailableError } from '../../ground/unavailable.ts'
import { diamondAbi, type Address } from '@bezel/protocol'
import {
  decodeFunctionData,
  encodeAbiParameters,
  encodeFunctionResult,
  getAbiItem,
  toFunctionSelector,
  zeroAddress,
  type Hex,
} from 'viem'
import type { RpcCall, RpcClient, RpcOutcome } from '../../chain/rpcClient.ts'

/** A node whose answers the test sets. */
export interface ScriptedNode extends RpcClient {
  delegate: Address
  /** True for the traders whose delegate it is; all of them by default. */
  isDelegator: (trader: Address) => boolean
  simulation: RpcOutcome
  /** Answers the simulation of this calldata; `simulation` by default. */
  simulationOf: (data: Hex) => RpcOutcome
  estimate: RpcOutcome
  balance: RpcOutcome
  allowance: RpcOutcome
  /** The trader's own terms, the token's price (1e8) and the volume of each asked window, as the Diamond tells them. */
  terms: { cumulVolPriceImpactMultiplier: number; fixedSpreadP: number }
  priceUsd: (collateralIndex: number) => bigint
  volumeUsd: { oiLongUsd: bigint; oiShortUsd: bigint }
  /** Transaction as the node's JSON. */
  transaction: unknown
  receipt: unknown
  isAway: boolean
  /** Runs while the caller waits for the answer. */
  whileAsked: () => Promise<void> | void
  readonly batches: (readonly RpcCall[])[]
}

export const ok = (result: unknown): RpcOutcome => ({ ok: true, result })
export const uint = (value: bigint): RpcOutcome => ok(encodeAbiParameters([{ type: 'uint256' }], [value]))
/** Returns a revert in the form of most nodes. */
export const reverted = (data: unknown): RpcOutcome => ({ ok: false, code: 3, message: 'execution reverted', data })

const DELEGATE_SELECTOR = toFunctionSelector(getAbiItem({ abi: diamondAbi, name: 'getTradingDelegate' }))
const TERMS_SELECTOR = toFunctionSelector(getAbiItem({ abi: diamondAbi, name: 'getUserPriceImpact' }))
const PRICE_SELECTOR = toFunctionSelector(getAbiItem({ abi: diamondAbi, name: 'getCollateralPriceUsd' }))
const WINDOWS_SELECTOR = toFunctionSelector(getAbiItem({ abi: diamondAbi, name: 'getOiWindows' }))
const BALANCE_SELECTOR = toFunctionSelector('function balanceOf(address)')
const ALLOWANCE_SELECTOR = toFunctionSelector('function allowance(address,address)')

export function scriptedNode(delegate: Address): ScriptedNode {
  const batches: (readonly RpcCall[])[] = []
  const node: ScriptedNode = {
    delegate,
    isDelegator: () => true,
    simulation: ok('0x'),
    simulationOf: () => node.simulation,
    estimate: ok('0x30d41'),
    balance: uint(10n ** 30n),
    allowance: uint(10n ** 30n),
    terms: { cumulVolPriceImpactMultiplier: 0, fixedSpreadP: 0 },
    priceUsd: (collateralIndex) => (collateralIndex === 2 ? 2_500n : 1n) * 10n ** 8n,
    volumeUsd: { oiLongUsd: 0n, oiShortUsd: 0n },
    transaction: null,
    receipt: null,
    isAway: false,
    whileAsked: () => undefined,
    batches,
    roundTrips: () => batches.length,
    async batch(calls) {
      batches.push(calls)
      await node.whileAsked()
      if (node.isAway) throw new NodeUnavailableError('the node did not answer')
      return calls.map(answer)
    },
  }

  function answer({ method, params }: RpcCall): RpcOutcome {
    if (method === 'eth_estimateGas') return node.estimate
    if (method === 'eth_getCode') return ok('0x')
    if (method === 'eth_getTransactionByHash') return ok(node.transaction)
    if (method === 'eth_getTransactionReceipt') return ok(node.receipt)
    const { data } = params[0] as { data: Hex }
    const selector = data.slice(0, 10)
    if (selector === TERMS_SELECTOR) return view('getUserPriceImpact', { ...node.terms, __placeholder: 0n })
    if (selector === PRICE_SELECTOR) {
      const [index] = decodeFunctionData({ abi: diamondAbi, data }).args as readonly [number]
      return view('getCollateralPriceUsd', node.priceUsd(index))
    }
    if (selector === WINDOWS_SELECTOR) {
      const ids = decodeFunctionData({ abi: diamondAbi, data }).args![2] as readonly bigint[]
      return view(
        'getOiWindows',
        ids.map(() => node.volumeUsd),
      )
    }
    if (selector === DELEGATE_SELECTOR) {
      const [trader] = decodeFunctionData({ abi: diamondAbi, data }).args as readonly [Address]
      const answered = node.isDelegator(trader) ? node.delegate : zeroAddress
      return ok(encodeAbiParameters([{ type: 'address' }], [answered]))
    }
    if (selector === BALANCE_SELECTOR) return node.balance
    if (selector === ALLOWANCE_SELECTOR) return node.allowance
    return node.simulationOf(data)
  }

  return node
}

function view(functionName: string, result: unknown): RpcOutcome {
  return ok(encodeFunctionResult({ abi: diamondAbi, functionName, result } as never))
}
