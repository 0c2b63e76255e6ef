import { diamondAbi } from '@bezel/protocol'
import { decodeFunctionData, decodeFunctionResult, encodeFunctionResult, type Abi, type Hex } from 'viem'
import type { Lie } from '../outages/faultyProxy.ts'

/** The ways in which a node that looks honest leaves something out. */
export interface Meddling {
  /** Returns the result of a view in place of the true one. May wait, so that the request is held up. */
  readonly view?: (asked: AskedView) => unknown
  /** True for a transaction whose logs are left out. */
  readonly isHidden?: (transactionHash: Hex) => boolean
  /** True for a view that the node can't answer now. */
  readonly isRefused?: (view: string) => boolean
}

/** A call of a view of the Diamond. */
export interface AskedView {
  readonly name: string
  readonly args: readonly unknown[]
  /** Number of the block at whose state it is asked for, or a tag. */
  readonly block: unknown
  /** The true result; `undefined` when the Diamond reverted. */
  readonly honest: unknown
}

/** The ABI with a plain type: which function is called is known only when it is. */
const DIAMOND: Abi = diamondAbi

const MULTICALL3 = '0xcA11bde05977b3631167028862bE2a173976CA11'

/** The error of a node that does not have a block's state yet. */
const REFUSAL = { code: -32000, message: 'header not found' }

interface RpcCall {
  readonly id: unknown
  readonly method: string
  readonly params: readonly unknown[]
}

interface RpcAnswer {
  readonly id: unknown
  readonly result?: unknown
  readonly error?: unknown
}

/** Returns the lie of a node that answers as it should but for this. */
export function meddleWith({ view, isHidden, isRefused }: Meddling): Lie {
  return async (asked, honest) => {
    const calls = new Map([JSON.parse(asked) as RpcCall | RpcCall[]].flat().map((call) => [call.id, call]))
    const parsed = JSON.parse(await honest()) as RpcAnswer | RpcAnswer[]
    const change = async (answer: RpcAnswer): Promise<RpcAnswer> => {
      const call = calls.get(answer.id)
      // Without Multicall3, every view is asked for alone.
      if (call?.method === 'eth_call' && isOfMulticall(call)) return { id: answer.id, result: '0x' }
      if (call?.method === 'eth_call' && isRefused?.(viewNameOf(call))) return { id: answer.id, error: REFUSAL }
      if (call?.method === 'eth_call' && view !== undefined) return changedView(call, answer, view)
      if (call?.method === 'eth_getLogs' && isHidden !== undefined) return withoutLogs(answer, isHidden)
      return answer
    }
    const changed = Array.isArray(parsed) ? await Promise.all(parsed.map(change)) : await change(parsed)
    return { text: JSON.stringify(changed) }
  }
}

async function changedView(call: RpcCall, answer: RpcAnswer, view: NonNullable<Meddling['view']>): Promise<RpcAnswer> {
  const [{ data = '0x' }, block] = call.params as [{ data?: Hex }, unknown]
  const decoded = decodedCall(data)
  if (decoded === undefined) return answer
  const { functionName, args = [] } = decoded
  const honest =
    typeof answer.result === 'string'
      ? decodeFunctionResult({ abi: DIAMOND, functionName, data: answer.result as Hex })
      : undefined
  const result = await view({ name: functionName, args, block, honest })
  if (result === honest) return answer
  const text = encodeFunctionResult({ abi: DIAMOND, functionName, result })
  return { ...answer, result: text, error: undefined }
}

function isOfMulticall({ params }: RpcCall): boolean {
  const [{ to }] = params as [{ to?: string }]
  return to === MULTICALL3
}

function viewNameOf({ params }: RpcCall): string {
  const [{ data = '0x' }] = params as [{ data?: Hex }]
  return decodedCall(data)?.functionName ?? ''
}

/** Decodes a call of the Diamond; `undefined` for a call of another contract. */
function decodedCall(data: Hex) {
  try {
    return decodeFunctionData({ abi: DIAMOND, data })
  } catch {
    return undefined
  }
}

function withoutLogs(answer: RpcAnswer, isHidden: (transactionHash: Hex) => boolean): RpcAnswer {
  if (!Array.isArray(answer.result)) return answer
  const logs = answer.result as readonly { readonly transactionHash: Hex }[]
  return { ...answer, result: logs.filter(({ transactionHash }) => !isHidden(transactionHash)) }
}
