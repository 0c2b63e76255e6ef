import assert from 'node:assert/strict'
import { it } from 'node:test'
import { Annotated, Closed, DecimalSchema } from '@bezel/protocol'
import { Type } from '@sinclair/typebox'
import { createApp } from './createApp.ts'

it('leaves a body as it came: a default in a schema is for readers', async () => {
  const app = createApp('silent')
  const body = Closed({ slippage: Type.Optional(Annotated(DecimalSchema, { default: '1' })) })
  app.post('/echo', { schema: { body } }, async (request) => ({ got: request.body }))
  const answer = await app.inject({ method: 'POST', url: '/echo', payload: {} })
  assert.deepEqual(answer.json(), { got: {} })
  await app.close()
})
