import { until } from '@bezel/testkit/until.ts'

/** Timeout of the clients' requests. No test measures time with it. */
export const TIMEOUT_MS = 120_000

/**
 * Settings of a service that holds its answers as long as it may, for stories that continue with what an answer says.
 * The clients need `TIMEOUT_MS`.
 */
export const LONG_HOLD = { service: { BEZEL_FACADE_FILL_WAIT_MS: '60000' } }

/**
 * Does what a client asked for, again while the service says that it, or its node, is not ready: then nothing was done.
 */
export async function patiently<Result>(work: () => Promise<Result>): Promise<Result> {
  const done = await until('the service is ready', async (saw) => {
    try {
      return { result: await work() }
    } catch (error) {
      if (!/NOT_READY|UPSTREAM_UNAVAILABLE/.test(String(error))) throw error
      saw(error)
      return undefined
    }
  })
  return done.result
}

/** Returns a client whose asynchronous methods are called patiently. The others must not be called. */
export function patient<Client extends object>(client: Client): Client {
  return new Proxy(client, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name)
      if (typeof value !== 'function') return value
      return (...args: unknown[]) => patiently(async () => value.apply(target, args))
    },
  })
}
