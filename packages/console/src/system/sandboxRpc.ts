/** Longest wait for an answer: the faucet waits until its transactions are mined. */
const TIMEOUT_MS = 30_000

/** Calls a JSON-RPC method of a local chain. Throws `SandboxError`, which says what to do. */
export async function callNode(url: string, method: string, params: readonly unknown[]): Promise<unknown> {
  const answer = await post(url, { jsonrpc: '2.0', id: 1, method, params })
  if (answer.error !== undefined) throw new SandboxError(`The local chain refused it: ${answer.error.message}.`)
  return answer.result
}

interface Answer {
  readonly result?: unknown
  readonly error?: { readonly message: string }
}

async function post(url: string, body: object): Promise<Answer> {
  try {
    const answer = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    return (await answer.json()) as Answer
  } catch {
    throw new SandboxError('The local chain does not answer. See whether npm start still runs, then try again.')
  }
}

/** Thrown when a control of the local chain did not work. */
export class SandboxError extends Error {
  override readonly name = 'SandboxError'
}
