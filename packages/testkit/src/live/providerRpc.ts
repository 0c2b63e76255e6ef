/** One JSON-RPC call, as a provider receives it. */
export interface StandInCall {
  readonly id: unknown
  readonly method: string
  readonly params: readonly unknown[]
}

/** The error inside the answer to one call. */
export interface StandInError {
  readonly code: number
  readonly message: string
  readonly data?: unknown
}

/** The answer to one call. */
export interface StandInAnswer {
  readonly jsonrpc: '2.0'
  readonly id: unknown
  readonly result?: unknown
  readonly error?: StandInError
}

/** The fields of a JSON object whose types are checked where they are read. */
export type JsonFields = Readonly<Record<string, unknown>>

/** Number of blocks around the head that a filter without a block means, by its tag. */
const TAGS_OF_HEAD: ReadonlySet<unknown> = new Set([undefined, null, 'latest', 'pending'])

/** Parses the body of a request. Returns `undefined` for text that is not JSON-RPC. */
export function parseStandInCalls(
  text: string,
): { readonly calls: readonly StandInCall[]; readonly isBatch: boolean } | undefined {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  const isBatch = Array.isArray(value)
  const entries: unknown[] = Array.isArray(value) ? value : [value]
  const calls = entries.flatMap((entry) => {
    const { id = null, method, params = [] } = jsonFieldsOf(entry)
    return typeof method === 'string' && Array.isArray(params) ? [{ id, method, params: params as unknown[] }] : []
  })
  return calls.length === entries.length ? { calls, isBatch } : undefined
}

export function answerWith({ id }: StandInCall, result: unknown): StandInAnswer {
  return { jsonrpc: '2.0', id, result }
}

export function refuseWith({ id }: StandInCall, code: number, message: string): StandInAnswer {
  return { jsonrpc: '2.0', id, error: { code, message } }
}

/** Returns the fields of a JSON object; none for anything else. */
export function jsonFieldsOf(value: unknown): JsonFields {
  return typeof value === 'object' && value !== null ? (value as JsonFields) : {}
}

/** Returns the number of a hex quantity; `undefined` for a tag, a hash and everything else. */
export function quantityOf(value: unknown): number | undefined {
  return typeof value === 'string' && /^0x[0-9a-f]{1,14}$/i.test(value) ? Number(value) : undefined
}

/** True for a block parameter that means the newest block. */
export function meansHead(block: unknown): boolean {
  return TAGS_OF_HEAD.has(block)
}

export function toQuantityHex(value: number): string {
  return `0x${value.toString(16)}`
}
