import type { Notification } from '@bezel/protocol/wire'
import assert from 'node:assert/strict'
import { beforeEach, describe, it } from 'node:test'
import { BezelApiError, BezelNetworkError } from '../errors/serviceErrors.ts'
import type { ApiCall } from '../http/createTransport.ts'
import { createNotifications, type Notifications } from './createNotifications.ts'

const TRADER = `0x${'22'.repeat(20)}`
const POLL = { pollMs: 1 }

const notice = (id: number): Notification => ({ id, type: 'order_filled', createdAt: id }) as Notification

describe('notifications of the client', () => {
  let calls: ApiCall[]
  let active: number[]
  let failures: Error[]
  let notifications: Notifications

  beforeEach(() => {
    ;[calls, active, failures] = [[], [3, 2, 1], []]
    const transport = {
      call: async <Answer>(call: ApiCall): Promise<Answer> => {
        calls.push(call)
        const failure = failures.shift()
        if (failure !== undefined) throw failure
        return { success: true, address: TRADER, notifications: active.map(notice) } as Answer
      },
    }
    notifications = createNotifications(transport, () => TRADER)
  })

  /** Reads ids up to one; `onTold` may change the list meanwhile. */
  async function idsOf(
    stream: AsyncIterable<Notification>,
    last: number,
    onTold: (id: number) => void = () => undefined,
  ): Promise<number[]> {
    const ids: number[] = []
    for await (const { id } of stream) {
      ids.push(id)
      onTold(id)
      if (id === last) break
    }
    return ids
  }

  it('are listed without credentials and dismissed with them', async () => {
    assert.deepEqual(
      (await notifications.list()).map(({ id }) => id),
      [3, 2, 1],
    )
    await notifications.dismiss(2)
    assert.deepEqual(
      calls.map(({ operationId, method, path, body, auth }) => [operationId, method, path, body, auth]),
      [
        ['listNotifications', 'GET', `/api/notifications/${TRADER}`, undefined, 'none'],
        ['dismissNotification', 'POST', `/api/notifications/${TRADER}/dismiss`, { notificationId: 2 }, 'read'],
      ],
    )
  })

  it('are told once each, oldest first, also when one goes and comes back', async () => {
    const ids = await idsOf(notifications.stream(POLL), 6, (id) => {
      if (id === 3) active = [4, 2]
      if (id === 4) active = [6, 5, 4, 3]
    })
    assert.deepEqual(ids, [1, 2, 3, 4, 5, 6])
  })

  it('begin behind the last one you have, or with those from now on', async () => {
    assert.deepEqual(await idsOf(notifications.stream({ ...POLL, after: 1 }), 3), [2, 3])
    calls = []
    const fresh = idsOf(notifications.stream({ ...POLL, after: 'latest' }), 4)
    while (calls.length === 0) await new Promise(setImmediate)
    active = [4, 3, 2, 1]
    assert.deepEqual(await fresh, [4])
  })

  it('wait out an outage, and end with what no retry heals', async () => {
    failures = [new BezelNetworkError('NETWORK_ERROR', { method: 'GET', url: '/', what: 'no answer' })]
    assert.deepEqual(await idsOf(notifications.stream(POLL), 3), [1, 2, 3])
    failures = [new BezelApiError({ code: 'VALIDATION_ERROR', message: 'No.', status: 400 })]
    await assert.rejects(notifications.stream(POLL).next(), { code: 'VALIDATION_ERROR' })
  })

  it('end when they are closed, and with the reason when they are aborted', async () => {
    active = []
    const controller = new AbortController()
    const closed = notifications.stream({ pollMs: 60_000 })
    const aborted = notifications.stream({ pollMs: 60_000, signal: controller.signal })
    const [waiting, alsoWaiting] = [closed.next(), aborted.next()]
    closed.close()
    assert.deepEqual(await waiting, { done: true, value: undefined })
    controller.abort(new Error('enough'))
    await assert.rejects(alsoWaiting, { message: 'enough' })
  })
})
