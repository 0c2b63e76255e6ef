/** JSON-RPC error codes that the chain and its server answer with. */
export const RPC_CODES = {
  parseError: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internal: -32603,
  server: -32000,
  limitExceeded: -32005,
  /** What geth gives for a call that reverted; `data` is then the revert bytes as hex. */
  reverted: 3,
} as const

/** An error as it goes out in a JSON-RPC answer. */
export class RpcError extends Error {
  readonly code: number
  readonly data: unknown

  constructor(code: number, message: string, data?: unknown) {
    super(message)
    this.name = 'RpcError'
    this.code = code
    this.data = data
  }
}

/** Shorthand for the commonest refusal: the caller's params are wrong. */
export function invalidParams(message: string): RpcError {
  return new RpcError(RPC_CODES.invalidParams, message)
}

/** Turns whatever was thrown into an error that may leave the process. */
export function toRpcError(thrown: unknown): RpcError {
  if (thrown instanceof RpcError) return thrown
  return new RpcError(RPC_CODES.internal, thrown instanceof Error ? thrown.message : String(thrown))
}
