import type { Notification } from '@bezel/sdk'
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { groupNotices, highestId, pageOfNotice, toAnnounce, unreadCount } from './grouping.ts'

const DAY_MS = 86_400_000
const NOW_MS = 20 * DAY_MS + 1000

const notice = (id: number, of: Partial<Notification> = {}): Notification =>
  ({
    id,
    type: 'order_filled',
    severity: 'info',
    orderId: null,
    positionId: null,
    link: null,
    createdAt: NOW_MS - id,
    ...of,
  }) as Notification

const dayOf = (ms: number): string => `day ${Math.floor(ms / DAY_MS)}`

const idsOf = (notices: readonly Notification[]): number[] => notices.map(({ id }) => id)

describe('the list of notices', () => {
  it('begins with those to be done, then goes by days', () => {
    const groups = groupNotices(
      [
        notice(1),
        notice(2, { createdAt: NOW_MS - 3 * DAY_MS }),
        notice(3, { type: 'order_timed_out', createdAt: NOW_MS - 5 * DAY_MS }),
        notice(4, { createdAt: NOW_MS - DAY_MS }),
        notice(5, { type: 'chain_paused', severity: 'critical' }),
        notice(6, { createdAt: NOW_MS }),
      ],
      NOW_MS,
      dayOf,
    )
    assert.deepEqual(
      groups.map(({ heading, notices }) => [heading, idsOf(notices)]),
      [
        ['To be done', [5, 3]],
        ['Today', [6, 1]],
        ['Yesterday', [4]],
        ['day 17', [2]],
      ],
    )
  })

  it('counts what came after the last one that was seen', () => {
    const notices = [notice(9), notice(7), notice(4)]
    assert.deepEqual([unreadCount(notices, 4), unreadCount(notices, 9), unreadCount([], 0)], [2, 0, 0])
    assert.deepEqual([highestId(notices, 3), highestId([], 3)], [9, 3])
  })

  it('leads to the page of what it is about, on its chain', () => {
    const link = '/v1/base/orders/12'
    assert.equal(pageOfNotice(notice(1, { orderId: '12', link })), '/portfolio?chain=base&order=12')
    assert.equal(pageOfNotice(notice(1, { positionId: '3' })), '/portfolio')
    assert.equal(pageOfNotice(notice(1, { type: 'agent_expiring' })), '/agents')
    assert.equal(pageOfNotice(notice(1, { type: 'chain_paused', link: '/v1/base/info' })), '/system?chain=base')
    assert.equal(pageOfNotice(notice(1)), null)
  })
})

describe('what the browser is told', () => {
  it('is nothing of what was there before', () => {
    assert.deepEqual(toAnnounce([notice(5), notice(3)], null), { told: [], lastTold: 5 })
  })

  it('is each new notice once, oldest first, by one of the tabs', () => {
    const { told, lastTold } = toAnnounce([notice(7), notice(6), notice(5)], 5)
    assert.deepEqual([idsOf(told), lastTold], [[6, 7], 7])
    assert.deepEqual(toAnnounce([notice(7), notice(6)], lastTold).told, [])
  })

  it('is not a flood, and a notice that comes back is not told again', () => {
    assert.deepEqual(idsOf(toAnnounce([notice(9), notice(8), notice(7), notice(6)], 1).told), [7, 8, 9])
    assert.deepEqual(toAnnounce([notice(3)], 9), { told: [], lastTold: 9 })
  })
})
