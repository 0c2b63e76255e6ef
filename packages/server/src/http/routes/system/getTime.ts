import { Closed, TimestampSchema } from '@bezel/protocol'
import { defineRoute } from '../../route.ts'

/** The context of the route of the time. */
export interface TimeContext {
  readonly now: () => number
}

const ServerTime = Closed(
  { timestamp: TimestampSchema },
  {
    timestamp:
      'Time of the service in epoch milliseconds: the clock that timestamps of signed requests are compared with.',
  },
  { title: 'ServerTime', description: 'The time of the service.' },
)

export const getTimeRoute = defineRoute({
  method: 'GET',
  path: '/v1/time',
  operationId: 'getTime',
  tag: 'System',
  access: 'public',
  summary: 'Reads the time of the service',
  description:
    'It needs neither chain nor store. When signed requests answer TIMESTAMP_OUT_OF_WINDOW, compare your clock with it.',
  errors: [],
  responses: { 200: ServerTime },
  handler: async ({ now }: TimeContext) => ({ timestamp: now() }),
})
