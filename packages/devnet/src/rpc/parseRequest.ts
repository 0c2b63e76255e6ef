import { RPC_CODES, RpcError } from '../chain/rpcError.ts'

export type RequestId = string | number | null

/** A request that has the right shape. */
export interface RpcRequest {
  /** Undefined for a notification, which gets no answer. */
  id: RequestId | undefined
  method: string
  params: readonly unknown[]
  /** True when the request had an array of params, so that its text can go to EDR as it is. */
  complete: boolean
}

const NO_PARAMS: readonly unknown[] = []

/** Checks one parsed element against JSON-RPC 2.0. Throws RpcError. */
export function parseRequest(value: unknown): RpcRequest {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw invalidRequest('a request must be an object')
  const { jsonrpc, id, method, params } = value as Record<string, unknown>
  if (jsonrpc !== '2.0') throw invalidRequest('jsonrpc must be "2.0"')
  if (typeof method !== 'string') throw invalidRequest('method must be a string')
  if (id !== undefined && !isRequestId(id)) throw invalidRequest('id must be a string, a number or null')
  if (params === undefined || params === null) return { id, method, params: NO_PARAMS, complete: false }
  if (!Array.isArray(params)) throw new RpcError(RPC_CODES.invalidParams, 'params must be an array')
  return { id, method, params, complete: true }
}

/** The id to answer a malformed request with: its own if it has a good one. */
export function idOf(value: unknown): RequestId {
  const id: unknown = typeof value === 'object' && value !== null && 'id' in value ? value.id : null
  return isRequestId(id) ? id : null
}

function isRequestId(id: unknown): id is RequestId {
  return id === null || typeof id === 'string' || typeof id === 'number'
}

function invalidRequest(message: string): RpcError {
  return new RpcError(RPC_CODES.invalidRequest, `invalid request: ${message}`)
}
