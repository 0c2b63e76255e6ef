import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { UnverifiedTransactionError, verifyPrepared } from '@bezel/sdk'
import { mulberry32 } from '../../packages/sdk/src/testing/mulberry32.ts'
import type { Shape } from '../../packages/sdk/src/testing/sampleShapes.ts'
import { tamper } from '../../packages/sdk/src/testing/tamper.ts'
import { prepareRealShapes } from './realShapes.ts'
import { startSdkWorld, type SdkWorld } from './sdkWorld.ts'

const TAMPERED_COUNT = 10_000

const SEED = 7

describe('what the service prepares, checked by the client', () => {
  let world: SdkWorld
  const shapes: Shape[] = []

  before(async () => {
    world = await startSdkWorld()
    for (const symbol of ['ETH/USD', 'SOL/USD']) await world.chain.control('bezel_freezePrice', symbol, true)
  })
  after(() => world?.stop())

  it('is accepted, for a delegate and for a trader that is its own agent', async () => {
    const delegated = await world.sdkAccount('trader-1', 'agent-1')
    shapes.push(...(await prepareRealShapes(world, delegated.client)))
    await world.chain.control('bezel_pauseOracle', false)
    const own = await world.sdkAccount('trader-2', 'trader-2')
    shapes.push(...(await prepareRealShapes(world, own.client)))
    assert.equal(shapes.length, 88)
    for (const { request, prepared, context } of shapes) {
      const isOpening = request.operation === 'createOrder' && request.body.reduceOnly !== true
      assert.ok((isOpening ? context.impactP : context.onChain) !== undefined, 'the chain was looked at')
      verifyPrepared(request, prepared, context)
    }
  })

  it(`is refused ${TAMPERED_COUNT} times when one thing of it is changed`, () => {
    const random = mulberry32(SEED)
    for (let count = 0; count < TAMPERED_COUNT; count += 1) {
      const shape = shapes[count % shapes.length]!
      const { how, prepared } = tamper(shape, random)
      assert.throws(
        () => verifyPrepared(shape.request, prepared, shape.context),
        UnverifiedTransactionError,
        `${shape.name} with another ${how} was accepted: ${prepared.transaction.data}`,
      )
    }
  })
})
