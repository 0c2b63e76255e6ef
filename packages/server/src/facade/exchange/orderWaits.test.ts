import type { OrderId } from '@bezel/protocol'
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { OrderState } from '../../trading/orders/orderModel.ts'
import type { PositionState } from '../../trading/positions/positionModel.ts'
import { createOrderWaits } from './orderWaits.ts'

const [A, B] = ['1', '2'] as [OrderId, OrderId]
const state = (status: string): OrderState => ({ status }) as OrderState
const isFilled = ({ status }: OrderState): boolean => status === 'filled'
const orderChange = (id: OrderId, status: string) =>
  ({ record: { id }, before: undefined, after: state(status) }) as never
const positionChange = (id: OrderId, after: Partial<PositionState> | undefined) =>
  ({ record: { id }, before: undefined, after }) as never

describe('order waits', () => {
  it('end with the first commit that has what is waited for', async () => {
    const waits = createOrderWaits()
    const [first, second, other] = [
      waits.wait(A, isFilled, 5_000),
      waits.wait(A, isFilled, 5_000),
      waits.wait(B, isFilled, 5_000),
    ]
    waits.apply({ awaited: [orderChange(A, 'pending'), orderChange(B, 'open')], positions: [] })
    assert.equal(waits.size, 3)
    waits.apply({ awaited: [orderChange(A, 'filled')], positions: [] })
    assert.equal((await first)?.status, 'filled')
    assert.equal((await second)?.status, 'filled')
    assert.equal(waits.size, 1)
    waits.tell(B, undefined)
    waits.tell(B, state('filled'))
    assert.equal((await other)?.status, 'filled')
    assert.equal(waits.size, 0)
  })

  it('end when the time is over, at once when there is none', async () => {
    const waits = createOrderWaits()
    assert.equal(await waits.wait(A, isFilled, 0), undefined)
    assert.equal(await waits.wait(A, isFilled, -5), undefined)
    assert.equal(await waits.wait(A, isFilled, 10), undefined)
    assert.equal(waits.size, 0)
    waits.apply({ awaited: [orderChange(A, 'filled')], positions: [] })
  })

  it('hear of positions, and of their end', async () => {
    const waits = createOrderWaits()
    const changed = waits.waitPosition(A, ({ updatedAtMs }) => updatedAtMs === 2, 5_000)
    const closed = waits.waitPosition(B, () => false, 5_000)
    const undone = waits.waitPosition('3' as OrderId, () => false, 5_000)
    waits.apply({ awaited: [], positions: [positionChange(A, { isOpen: true, updatedAtMs: 1 })] })
    waits.apply({
      awaited: [],
      positions: [
        positionChange(A, { isOpen: true, updatedAtMs: 2 }),
        positionChange(B, { isOpen: false }),
        positionChange('3' as OrderId, undefined),
      ],
    })
    assert.deepEqual(await Promise.all([changed, closed, undone]), [true, true, true])
    assert.equal(await waits.waitPosition(A, () => true, 5), false)
  })

  it('let everybody go at the end, and hold nobody afterwards', async () => {
    const waits = createOrderWaits()
    const held = [waits.wait(A, isFilled, 60_000), waits.wait(B, isFilled, 60_000)]
    const position = waits.waitPosition(A, () => true, 60_000)
    waits.close()
    assert.deepEqual(await Promise.all(held), [undefined, undefined])
    assert.equal(await position, false)
    assert.equal(await waits.wait(A, isFilled, 60_000), undefined)
    assert.equal(waits.size, 0)
  })
})
