import type { Provider } from '@nomicfoundation/edr'
import { errorAnswer, isErrorAnswer, parseAnswer } from './answer.ts'
import { createInFlightLimit } from './inFlightLimit.ts'
import { createRawProvider } from './rawProvider.ts'
import type { RawProviderOptions } from './rawProvider.ts'
import { wordError } from './wordError.ts'
import type { EdrError } from './wordError.ts'

/** One EDR chain behind a JSON text interface. */
export interface EdrProvider {
  /** One request of a caller, given and answered as text; errors are worded as geth does. Waits its turn. */
  send(requestText: string): Promise<string>
  /** One request of the chain itself: parsed, throws RpcError, and never waits behind callers. */
  call<T = unknown>(method: string, params?: readonly unknown[]): Promise<T>
  /** Resolves when no caller's request is under way or waiting. */
  idle(): Promise<void>
}

// EDR holds one lock per chain, so the second request in flight only hides the way there and back, and a third would only wait inside.
const MAX_CALLERS_PER_CHAIN = 2
// EDR takes a thread for every request in flight, and each costs about 15 MB that never come back. There is one pool for all chains.
const MAX_REQUESTS_IN_FLIGHT = 2
const inFlight = createInFlightLimit(MAX_REQUESTS_IN_FLIGHT)

/** Makes a fresh chain. */
export async function createEdrProvider(options: RawProviderOptions): Promise<EdrProvider> {
  const provider = await createRawProvider(options)
  const callers = createInFlightLimit(MAX_CALLERS_PER_CHAIN)
  return {
    send: (requestText) => callers.run(() => inFlight.run(() => handle(provider, requestText))),
    idle: callers.idle,
    async call<T>(method: string, params: readonly unknown[] = []) {
      const requestText = JSON.stringify({ method, params })
      return parseAnswer(await inFlight.runNext(() => handle(provider, requestText))) as T
    },
  }
}

async function handle(provider: Provider, requestText: string): Promise<string> {
  const data: unknown = (await provider.handleRequest(requestText)).data
  // EDR hands out an object instead of text only for answers longer than a string can be.
  if (typeof data !== 'string') return errorAnswer(new Error('the answer is too large'))
  if (!isErrorAnswer(data)) return data
  return errorAnswer(wordError((JSON.parse(data) as { error: EdrError }).error))
}
