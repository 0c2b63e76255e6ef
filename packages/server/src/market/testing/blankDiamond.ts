import { diamondAbi, parseHex, type Address, type Hex } from '@bezel/protocol'
import {
  decodeFunctionData,
  encodeFunctionResult,
  erc20Abi,
  numberToHex,
  parseAbi,
  toFunctionSelector,
  type AbiFunction,
  type AbiParameter,
} from 'viem'
import type { RpcCall, RpcClient, RpcOutcome } from '../../chain/rpcClient.ts'
import type { FollowedBlock } from '../../store/blockStore.ts'

/** A node with a Diamond of any size in which nobody has traded, and with Multicall3. */
export interface BlankDiamond {
  readonly client: RpcClient
  readonly diamond: Address
  /** Number of JSON-RPC calls so far, by method. */
  readonly counts: Map<string, number>
  /** True on a chain without Multicall3. */
  isPlain: boolean
  /** The newest block. */
  head: number
  /** Results that differ from the blank ones, by name of the view. Arguments and the blank result are passed. */
  readonly results: Map<string, (args: readonly unknown[], blank: unknown) => unknown>
}

const MULTICALL_ABI = parseAbi([
  'struct Call3 { address target; bool allowFailure; bytes callData; }',
  'struct Result { bool success; bytes returnData; }',
  'function aggregate3(Call3[] calls) payable returns (Result[] returnData)',
])

/** Functions by selector: looking for them in the whole ABI takes most of the time of a test. */
const FUNCTIONS: ReadonlyMap<string, AbiFunction> = new Map(
  diamondAbi.flatMap((item) => (item.type === 'function' ? [[toFunctionSelector(item), item]] : [])),
)

const DIAMOND = `0x${'d1'.repeat(20)}` as Address
const MULTICALL = '0xca11bde05977b3631167028862be2a173976ca11'

/** Returns the hash of the block of a number. */
export function hashOf(number: number): Hex {
  return parseHex(numberToHex(number + 1, { size: 32 }))!
}

/** Returns the block of a number; one a second. */
export function blockOf(number: number): FollowedBlock {
  return { number, hash: hashOf(number), parentHash: hashOf(number - 1), timestampMs: number * 1_000 }
}

export function createBlankDiamond(size: { readonly pairs: number; readonly collaterals: number }): BlankDiamond {
  const fake: BlankDiamond = {
    client: { roundTrips: () => 0, batch: async (calls) => calls.map(answer) },
    diamond: DIAMOND,
    counts: new Map(),
    isPlain: false,
    head: 2_000,
    results: new Map<string, (args: readonly unknown[], blank: unknown) => unknown>([
      ['pairsCount', () => BigInt(size.pairs)],
      ['groupsCount', () => 1n],
      ['feesCount', () => 1n],
      ['pairs', ([index], blank) => ({ ...Object(blank), from: `P${String(index)}`, to: 'USD' })],
      ['groups', (_args, blank) => ({ ...Object(blank), name: 'crypto', minLeverage: 1_000n, maxLeverage: 9_000n })],
      ['getCollaterals', () => Array.from({ length: size.collaterals }, (_, at) => collateral(at + 1))],
      ['getAllBorrowingPairs', () => listsOf(size.pairs)],
      ['getOiWindowsSettings', () => ({ startTs: 0, windowsDuration: 600, windowsCount: 3 })],
      ['getPairDepthBandsArray', (_args, blank) => deep(blank)],
    ]),
  }

  function answer({ method, params }: RpcCall): RpcOutcome {
    fake.counts.set(method, (fake.counts.get(method) ?? 0) + 1)
    if (method === 'eth_getBlockByNumber') return ok(rpcBlock(params[0] === 'latest' ? fake.head : Number(params[0])))
    const { to, data } = params[0] as { readonly to: string; readonly data: Hex }
    if (to.toLowerCase() !== MULTICALL) return ok(view(to, data))
    return ok(fake.isPlain ? '0x' : aggregate(data))
  }

  function view(to: string, data: Hex): Hex {
    if (to !== DIAMOND) return encodeFunctionResult({ abi: erc20Abi, functionName: 'symbol', result: 'USDC' }) as Hex
    const item = FUNCTIONS.get(data.slice(0, 10))!
    const decoded = decodeFunctionData({ abi: [item], data })
    const args = (decoded.args ?? []) as readonly unknown[]
    const functionName = item.name
    // A view of many places takes lists of their indices, the last of which is as long as its result.
    const length = args.findLast((arg): arg is readonly unknown[] => Array.isArray(arg))?.length ?? 0
    const blanks = item.outputs.map((output) => blankOf(output, length))
    const blank = blanks.length === 1 ? blanks[0] : blanks
    const result = fake.results.get(functionName)?.(args, blank) ?? blank
    return encodeFunctionResult({ abi: [item], functionName, result } as never) as Hex
  }

  function aggregate(data: Hex): Hex {
    const { args } = decodeFunctionData({ abi: MULTICALL_ABI, data })
    const result = args[0].map(({ target, callData }) => ({
      success: true,
      returnData: view(target.toLowerCase(), callData as Hex),
    }))
    return encodeFunctionResult({ abi: MULTICALL_ABI, functionName: 'aggregate3', result }) as Hex
  }

  return fake
}

function ok(result: unknown): RpcOutcome {
  return { ok: true, result }
}

function rpcBlock(number: number): Record<string, unknown> {
  const { hash, parentHash, timestampMs } = blockOf(number)
  const timestamp = numberToHex(timestampMs / 1_000)
  return { number: numberToHex(number), hash, parentHash, timestamp, logsBloom: '0x', transactions: [] }
}

function collateral(index: number) {
  const address = numberToHex(index, { size: 20 })
  const precision = { precision: 10n ** 6n, precisionDelta: 10n ** 12n }
  return { collateral: address, isActive: true, __placeholder: 0n, ...precision }
}

/** Returns lists of as many blank entries as there are pairs; groups of pairs stay empty lists. */
function listsOf(pairs: number): readonly unknown[] {
  const [data, ois] = [...FUNCTIONS.values()].find(({ name }) => name === 'getAllBorrowingPairs')!.outputs
  return [blankOf(data!, pairs), blankOf(ois!, pairs), Array.from({ length: pairs }, () => [])]
}

/** Returns depth bands with a total depth, without which volume moves no price. */
function deep(blank: unknown): unknown {
  const depth = 1_000_000n
  return (blank as readonly object[]).map((bands) => ({ ...bands, aboveSlot1: depth, belowSlot1: depth }))
}

function blankOf(parameter: AbiParameter, length: number): unknown {
  const { type } = parameter
  if (type.endsWith('[]')) {
    const entry = { ...parameter, type: type.slice(0, -2) }
    return Array.from({ length }, () => blankOf(entry, 0))
  }
  if ('components' in parameter) {
    return Object.fromEntries(parameter.components.map((field) => [field.name, blankOf(field, length)]))
  }
  if (type === 'bool') return false
  if (type === 'string') return ''
  if (type === 'address') return numberToHex(0, { size: 20 })
  const size = Number(/\d+$/.exec(type)?.[0])
  if (type.startsWith('bytes')) return numberToHex(0, { size })
  return size <= 48 ? 0 : 0n
}
