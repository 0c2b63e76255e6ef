import type { Hex } from 'viem'

/** JSON-RPC error codes that the chain and its server answer with. */
export const RPC_CODES = {
  parseError: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internal: -32603,
  server: -32000,
  limitExceeded: -32005,
  /** geth's code for a reverted call; `data` holds the revert bytes as hex. */
  reverted: 3,
} as const

/** An error in the form of a JSON-RPC answer. */
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

/** Creates the most common refusal: wrong params of the caller. */
export function invalidParams(message: string): RpcError {
  return new RpcError(RPC_CODES.invalidParams, message)
}

/** Converts anything thrown into an error that may leave the process. */
function toRpcError(thrown: unknown): RpcError {
  if (thrown instanceof RpcError) return thrown
  return new RpcError(RPC_CODES.internal, thrown instanceof Error ? thrown.message : String(thrown))
}

/** Formats a number as a hex quantity of JSON-RPC. */
export function toQuantity(value: number): Hex {
  return `0x${value.toString(16)}`
}

/** Formats a number as one 32-byte word. */
export function toWord(value: number): Hex {
  return `0x${value.toString(16).padStart(64, '0')}`
}

/** Parses a whole number from a JSON number, a hex quantity or decimal text. */
export function parseQuantity(value: unknown, name: string): number {
  const isText = typeof value === 'string' && /^(0x[0-9a-fA-F]+|\d+)$/.test(value)
  const number = typeof value === 'number' || isText ? Number(value) : Number.NaN
  if (!Number.isSafeInteger(number) || number < 0) {
    throw invalidParams(`${name} must be a whole number or a hex quantity, not ${JSON.stringify(value) ?? 'nothing'}`)
  }
  return number
}

// An "answer" is a JSON-RPC response without `jsonrpc` and `id`: the text `{"result":..}` or `{"error":..}`. EDR
// returns this form, and the server only prepends the two missing members, so that a result is neither parsed nor
// written again on its way out.

const RESULT_PREFIX = '{"result":'

const LETTER_E = 101

/** Returns the answer text of a result. */
export function resultAnswer(result: unknown): string {
  return `${RESULT_PREFIX}${JSON.stringify(result) ?? 'null'}}`
}

/** Returns the answer text of anything thrown. */
export function errorAnswer(thrown: unknown): string {
  const { code, message, data } = toRpcError(thrown)
  return JSON.stringify({ error: data === undefined ? { code, message } : { code, message, data } })
}

/** Returns true for `{"error":..}`. It looks at one character, because it runs for every answer. */
export function isErrorAnswer(answer: string): boolean {
  return answer.charCodeAt(2) === LETTER_E
}

/** Returns the JSON text of the result in an answer that is known to have one. */
export function resultText(answer: string): string {
  return answer.slice(RESULT_PREFIX.length, -1)
}

/** Returns the parsed result of an answer, or throws its error. */
export function parseAnswer(answer: string): unknown {
  const parsed = JSON.parse(answer) as { result?: unknown; error?: { code: number; message: string; data?: unknown } }
  if (parsed.error !== undefined) throw new RpcError(parsed.error.code, parsed.error.message, parsed.error.data)
  return parsed.result
}
