import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it, mock } from 'node:test'
import { dismissToast, holdToast, MAX_TOASTS, pushToast, releaseToast, toasts } from './toasts.ts'

const titles = (): string[] => toasts.value.map(({ title }) => title)

describe('toasts', () => {
  beforeEach(() => mock.timers.enable({ apis: ['setTimeout'] }))
  afterEach(() => {
    for (const { id } of toasts.value) dismissToast(id)
    mock.timers.reset()
  })

  it('lets what is done go away after 6 s, and what went wrong after 15 s', () => {
    pushToast({ tone: 'good', title: 'done' })
    pushToast({ tone: 'bad', title: 'wrong' })
    mock.timers.tick(5_999)
    assert.deepEqual(titles(), ['done', 'wrong'])
    mock.timers.tick(1)
    assert.deepEqual(titles(), ['wrong'])
    mock.timers.tick(9_000)
    assert.deepEqual(titles(), [])
  })

  it('shows at most four, the newest ones', () => {
    for (let count = 1; count <= MAX_TOASTS + 2; count++) pushToast({ tone: 'info', title: String(count) })
    assert.deepEqual(titles(), ['3', '4', '5', '6'])
  })

  it('replaces an older one of the same key, and gives the newer its whole time', () => {
    pushToast({ tone: 'info', title: 'sent', key: 'order-1' })
    pushToast({ tone: 'info', title: 'other', key: 'order-2' })
    mock.timers.tick(5_000)
    pushToast({ tone: 'good', title: 'filled', key: 'order-1' })
    assert.deepEqual(titles(), ['other', 'filled'])
    mock.timers.tick(5_000)
    assert.deepEqual(titles(), ['filled'])
  })

  it('keeps one without an end, and one that is held', () => {
    pushToast({ tone: 'info', title: 'stays', ttlMs: 0 })
    const held = pushToast({ tone: 'good', title: 'held' })
    holdToast(held)
    mock.timers.tick(19_000)
    assert.deepEqual(titles(), ['stays', 'held'])
    releaseToast(held)
    mock.timers.tick(6_000)
    assert.deepEqual(titles(), ['stays'])
  })

  it('does not keep one under the pointer for ever, since it may lie over what the pointer came for', () => {
    pushToast({ tone: 'info', title: 'stays', ttlMs: 0 })
    const held = pushToast({ tone: 'warn', title: 'held' })
    for (const { id } of toasts.value) holdToast(id)
    mock.timers.tick(19_999)
    assert.deepEqual(titles(), ['stays', 'held'])
    mock.timers.tick(1)
    assert.deepEqual(titles(), ['stays'])
    releaseToast(held)
    assert.deepEqual(titles(), ['stays'])
  })

  it('leaves the rest alone when one is dismissed', () => {
    const first = pushToast({ tone: 'good', title: 'first' })
    pushToast({ tone: 'good', title: 'second' })
    dismissToast(first)
    dismissToast(first)
    releaseToast(first)
    assert.deepEqual(titles(), ['second'])
  })
})
