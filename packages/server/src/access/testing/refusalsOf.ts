import { StartupError } from '@bezel/protocol'
import { until } from '@bezel/testkit/until.ts'
import { inspectRedis, openRedisLink } from '../redisLink.ts'

/**
 * Returns the errors by which a start and the check refuse a Redis. A server whose answer came too late for a
 * handshake, as on a busy machine, is asked again.
 */
export function refusalsOf(place: Parameters<typeof openRedisLink>[0]): Promise<readonly StartupError[]> {
  return Promise.all(
    [openToClose, inspectRedis].map((open) =>
      until('it is refused', async (saw) => {
        const error = await open(place).then(
          () => undefined,
          (thrown: unknown) => thrown,
        )
        saw(error)
        if (error === undefined || (error instanceof StartupError && LATE.test(error.message))) return undefined
        if (error instanceof StartupError) return error
        throw error
      }),
    ),
  )
}

const LATE = /does not answer/

async function openToClose(place: Parameters<typeof openRedisLink>[0]): Promise<void> {
  await (await openRedisLink(place)).close()
}
