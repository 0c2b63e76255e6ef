import { deepEqual, equal } from 'node:assert/strict'
import { describe, it } from 'node:test'
import { until } from '@bezel/testkit/until.ts'
import { createLooks, type Lookable } from './looks.ts'

function slowly(ms: number, then: () => void): Lookable {
  return {
    look() {
      for (const startMs = performance.now(); performance.now() - startMs < ms;) continue
      then()
    },
  }
}

describe('looks', () => {
  it('are done at once while they are quick', () => {
    const looks = createLooks()
    let count = 0
    const items = Array.from({ length: 10 }, () => slowly(0, () => (count += 1)))
    looks.add(items)
    equal(count, 10)
  })

  it('take breaks when they are many, in turn, and one look is enough for several changes', async () => {
    const looks = createLooks()
    const seen: number[] = []
    const items = [0, 1, 2].map((at) => slowly(2, () => seen.push(at)))
    looks.add(items)
    deepEqual(seen, [0])
    looks.add(items)
    looks.add(items)
    deepEqual(seen, [0])
    await until('all are seen', () => seen.length === 4)
    await new Promise((later) => setTimeout(later, 50))
    deepEqual(seen, [0, 1, 2, 0])
  })

  it('end when they are closed', async () => {
    const looks = createLooks()
    let count = 0
    looks.add([1, 2, 3].map(() => slowly(2, () => (count += 1))))
    looks.close()
    await new Promise((later) => setTimeout(later, 50))
    equal(count, 1)
  })
})
