import { diamondAbi, type Address, type Hex } from '@bezel/protocol'
import { decodeFunctionData, encodeFunctionResult, numberToHex, toFunctionSelector, type AbiFunction } from 'viem'
import { NodeUnavailableError } from '../../ground/unavailable.ts'
import { CALLED_FUNCTIONS } from '../diamondCheck.ts'
import type { RpcCall, RpcClient, RpcOutcome } from '../rpcClient.ts'

/** A node with a Diamond of one facet, which a test changes as it likes. */
export interface FakeDiamond {
  readonly client: RpcClient
  head: number
  isAway: boolean
  /** Functions that the facet answers. */
  functions: string[]
  facetCode: Hex
  pairs: bigint
  collaterals: number
  timeoutBlocks: number
  /** Result of `facets()` in place of the real one, or a revert. */
  loupe: Hex | 'revert' | undefined
  /** Blocks at which `facets()` was read. */
  readonly readAt: number[]
}

const FACET: Address = '0x1111111111111111111111111111111111111111' as Address

const REVERTED: RpcOutcome = { ok: false, code: 3, message: 'execution reverted', data: '0x' }

export function createFakeDiamond(): FakeDiamond {
  const fake: FakeDiamond = {
    client: { roundTrips: () => 0, batch: async (calls) => calls.map(answer) },
    head: 10,
    isAway: false,
    functions: [...CALLED_FUNCTIONS],
    facetCode: '0x6001' as Hex,
    pairs: 2n,
    collaterals: 1,
    timeoutBlocks: 30,
    loupe: undefined,
    readAt: [],
  }

  function answer({ method, params }: RpcCall): RpcOutcome {
    if (fake.isAway) throw new NodeUnavailableError('the node is away')
    if (method === 'eth_blockNumber') return { ok: true, result: numberToHex(fake.head) }
    if (method === 'eth_getCode') return { ok: true, result: fake.facetCode }
    const { functionName } = decodeFunctionData({ abi: diamondAbi, data: (params[0] as { data: Hex }).data })
    if (functionName === 'pairsCount') return encoded(functionName, fake.pairs)
    if (functionName === 'getCollaterals') return encoded(functionName, collaterals(fake.collaterals))
    if (functionName === 'getMarketOrdersTimeoutBlocks') return encoded(functionName, fake.timeoutBlocks)
    fake.readAt.push(Number(params[1]))
    if (fake.loupe === 'revert') return REVERTED
    if (fake.loupe !== undefined) return { ok: true, result: fake.loupe }
    return encoded('facets', [{ facetAddress: FACET, functionSelectors: fake.functions.map(selectorOf) }])
  }

  return fake
}

function collaterals(count: number): unknown[] {
  return Array.from({ length: count }, () => ({
    collateral: FACET,
    isActive: true,
    __placeholder: 0n,
    precision: 10n ** 6n,
    precisionDelta: 10n ** 12n,
  }))
}

function encoded(functionName: string, result: unknown): RpcOutcome {
  return { ok: true, result: encodeFunctionResult({ abi: diamondAbi, functionName, result } as never) }
}

function selectorOf(name: string): Hex {
  return toFunctionSelector(
    diamondAbi.find((entry) => entry.type === 'function' && entry.name === name) as AbiFunction,
  ) as Hex
}
