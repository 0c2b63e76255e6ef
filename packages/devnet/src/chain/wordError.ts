import { RPC_CODES, RpcError } from './rpcError.ts'

/** The `error` member of an EDR answer. */
export interface EdrError {
  code: number
  message: string
  data?: { reason?: unknown; data?: unknown } | null
}

const EDR_METHOD_NOT_SUPPORTED = -32004

// Wallet libraries recognise these failures by geth's words, so each EDR sentence is led by them.
const GETH_WORDS: readonly (readonly [RegExp, string])[] = [
  [/doesn't have enough funds/, 'insufficient funds for gas * price + value'],
  [/^Known transaction/, 'already known'],
  [/nonce too low/, 'nonce too low'],
  [/^Replacement transaction underpriced/, 'replacement transaction underpriced'],
  [/requires at least \d+ gas/, 'intrinsic gas too low'],
  [/ran out of gas/, 'out of gas'],
]

/** Gives an EDR error the code, the words and the revert data that geth would answer with. */
export function wordError(error: EdrError): RpcError {
  if (error.code === EDR_METHOD_NOT_SUPPORTED) return methodNotFound(error.message)
  if (isRevert(error.data?.reason))
    return new RpcError(RPC_CODES.reverted, revertMessage(error.message), error.data?.data)
  return new RpcError(error.code, gethMessage(error.message))
}

function methodNotFound(message: string): RpcError {
  const method = /^Method (\S+) is not supported/.exec(message)?.[1] ?? ''
  return new RpcError(RPC_CODES.methodNotFound, `the method ${method} does not exist/is not available`)
}

function isRevert(reason: unknown): boolean {
  return typeof reason === 'object' && reason !== null && 'Revert' in reason
}

function revertMessage(message: string): string {
  const reason =
    /reverted with reason string '(.*)'$/s.exec(message)?.[1] ?? /reverted with (panic code .*)$/s.exec(message)?.[1]
  return reason === undefined ? 'execution reverted' : `execution reverted: ${reason}`
}

function gethMessage(message: string): string {
  const words = GETH_WORDS.find(([pattern]) => pattern.test(message))?.[1]
  return words === undefined ? message : `${words}: ${message}`
}
