import { decodeFunctionResult, encodeFunctionData, parseAbi, type Hex } from 'viem'
import { createBreaks } from '../ground/breaks.ts'
import type { RpcCall, RpcClient, RpcOutcome } from './rpcClient.ts'

/** Address of Multicall3, the same on every live chain. */
export const MULTICALL_ADDRESS = '0xcA11bde05977b3631167028862bE2a173976CA11'

const ABI = parseAbi([
  'struct Call3 { address target; bool allowFailure; bytes callData; }',
  'struct Result { bool success; bytes returnData; }',
  'function aggregate3(Call3[] calls) payable returns (Result[] returnData)',
])

/** Number of calls in one `aggregate3`: far below the gas that nodes allow a call, with views of hundreds of pairs. */
const CALLS_PER_MULTICALL = 50

/** The number of batches that are sent as they are after the contract was not found, before it is looked for again. */
const BATCHES_WITHOUT = 100

/**
 * Makes a client that sends the view calls of a batch through Multicall3, so that up to 50 of them are one call to the
 * node, and to its bill. A call that fails inside is sent again alone, so outcomes are those of the plain client. On a
 * chain without the contract everything is sent as it is.
 */
export function createMulticallClient(client: RpcClient): RpcClient {
  let plainBatches = 0

  async function batch(calls: readonly RpcCall[]): Promise<RpcOutcome[]> {
    if (plainBatches > 0) {
      plainBatches -= 1
      return client.batch(calls)
    }
    const packs = packsOf(calls)
    const takeBreak = createBreaks()
    const packed: RpcCall[] = []
    for (const pack of packs) {
      packed.push(callOf(calls, pack))
      await takeBreak()
    }
    const answers = await client.batch(packed)
    const outcomes = new Map<number, RpcOutcome>()
    for (const [i, pack] of packs.entries()) {
      await takeBreak()
      const answer = answers[i]!
      if (pack.length === 1) outcomes.set(pack[0]!, answer)
      else if (answer.ok && answer.result === '0x') plainBatches = BATCHES_WITHOUT
      else for (const [n, result] of unpack(answer).entries()) if (result.success) outcomes.set(pack[n]!, okOf(result))
    }
    const missing = [...calls.keys()].filter((at) => !outcomes.has(at))
    const alone = missing.length === 0 ? [] : await client.batch(missing.map((at) => calls[at]!))
    for (const [i, at] of missing.entries()) outcomes.set(at, alone[i]!)
    return [...calls.keys()].map((at) => outcomes.get(at)!)
  }

  return { batch, roundTrips: () => client.roundTrips() }
}

interface Result {
  readonly success: boolean
  readonly returnData: Hex
}

/** A view call of a contract at a block. */
interface View {
  readonly to: Hex
  readonly data: Hex
  readonly block: string
}

/** Returns the call as a view; `undefined` for all that Multicall3 can't answer, such as a call with a sender. */
function viewOf({ method, params }: RpcCall): View | undefined {
  const [request, block, ...others] = params
  if (method !== 'eth_call' || typeof block !== 'string' || others.length > 0) return undefined
  const { to, data, ...rest } = request as Readonly<Record<string, unknown>>
  if (typeof to !== 'string' || typeof data !== 'string' || Object.keys(rest).length > 0) return undefined
  return { to: to as Hex, data: data as Hex, block }
}

/** Groups the calls, each by its index: views at one block together, everything else alone. */
function packsOf(calls: readonly RpcCall[]): number[][] {
  const packs: number[][] = []
  const open = new Map<string, number[]>()
  for (const [at, call] of calls.entries()) {
    const block = viewOf(call)?.block
    const pack = block === undefined ? undefined : open.get(block)
    if (pack !== undefined && pack.length < CALLS_PER_MULTICALL) {
      pack.push(at)
      continue
    }
    const started = [at]
    packs.push(started)
    if (block !== undefined) open.set(block, started)
  }
  return packs
}

function callOf(calls: readonly RpcCall[], pack: readonly number[]): RpcCall {
  const [first, ...others] = pack.map((at) => calls[at]!)
  if (others.length === 0) return first!
  const views = [first!, ...others].map((call) => viewOf(call)!)
  const args = views.map(({ to, data }) => ({ target: to, allowFailure: true, callData: data }))
  const data = encodeFunctionData({ abi: ABI, functionName: 'aggregate3', args: [args] })
  return { method: 'eth_call', params: [{ to: MULTICALL_ADDRESS, data }, views[0]!.block] }
}

/** Returns the results; none when the node refused the call or answered with something else. */
function unpack(answer: RpcOutcome): readonly Result[] {
  if (!answer.ok) return []
  try {
    return decodeFunctionResult({ abi: ABI, functionName: 'aggregate3', data: answer.result as Hex })
  } catch {
    return []
  }
}

function okOf({ returnData }: Result): RpcOutcome {
  return { ok: true, result: returnData }
}
