import { RpcError, toRpcError } from './rpcError.ts'

// An "answer" is a JSON-RPC response without `jsonrpc` and `id`: the text `{"result":..}` or `{"error":..}`. That is what EDR gives, and the
// server only has to splice the two missing members in front, so a result is neither parsed nor written again on its way out.

const RESULT_PREFIX = '{"result":'
const LETTER_E = 101

/** The answer text of a result. */
export function resultAnswer(result: unknown): string {
  return `${RESULT_PREFIX}${JSON.stringify(result) ?? 'null'}}`
}

/** The answer text of something thrown. */
export function errorAnswer(thrown: unknown): string {
  const { code, message, data } = toRpcError(thrown)
  return JSON.stringify({ error: data === undefined ? { code, message } : { code, message, data } })
}

/** True for `{"error":..}`: looks at one character, since this runs for every answer. */
export function isErrorAnswer(answer: string): boolean {
  return answer.charCodeAt(2) === LETTER_E
}

/** The JSON text of the result inside an answer that is known to be one. */
export function resultText(answer: string): string {
  return answer.slice(RESULT_PREFIX.length, -1)
}

/** The parsed result of an answer, or its error thrown. */
export function parseAnswer(answer: string): unknown {
  const parsed = JSON.parse(answer) as { result?: unknown; error?: { code: number; message: string; data?: unknown } }
  if (parsed.error !== undefined) throw new RpcError(parsed.error.code, parsed.error.message, parsed.error.data)
  return parsed.result
}
