import { deepEqual, equal } from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createPublisher } from './publisher.ts'

describe('a publisher', () => {
  it('tells those who subscribed, until they end it', () => {
    const { subscribe, publish, hasSubscribers } = createPublisher<number>()
    const told: string[] = []
    publish(1)
    const endFirst = subscribe((message) => told.push(`first ${message}`))
    const endSecond = subscribe((message) => told.push(`second ${message}`))
    publish(2)
    endFirst()
    publish(3)
    equal(hasSubscribers(), true)
    endSecond()
    endSecond()
    publish(4)
    equal(hasSubscribers(), false)
    deepEqual(told, ['first 2', 'second 2', 'second 3'])
  })
})
