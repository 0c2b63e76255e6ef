import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import { createApp } from '../createApp.ts'
import { defineRoute, type RouteAccess } from '../route.ts'
import { registerRoute } from './registerRoute.ts'
import { requireRightClock } from './requireRightClock.ts'

describe('a wrong clock', () => {
  let app: FastifyInstance
  let isWrong = false

  const routeOf = <Access extends RouteAccess>(access: Access, path: string) =>
    defineRoute<object, Access, string>({
      method: 'GET',
      path,
      operationId: 'getAccount' as never,
      tag: 'System',
      access,
      summary: 'Answers',
      errors: [],
      responses: { 200: Type.Object({}) },
      handler: async () => ({}),
    })

  before(async () => {
    app = createApp('silent')
    requireRightClock(app, { isWrong: () => isWrong })
    registerRoute(app, routeOf('public', '/public'), {})
    registerRoute(app, routeOf('envelope', '/envelope'), {})
    registerRoute(app, routeOf('master', '/master'), {})
    await app.ready()
  })
  after(() => app.close())

  const statusOf = async (url: string): Promise<number> => (await app.inject(url)).statusCode

  it('refuses whatever is signed, and nothing else, until it is right', async () => {
    const all = (): Promise<number[]> => Promise.all(['/public', '/envelope', '/master'].map(statusOf))
    assert.deepEqual(await all(), [200, 200, 200])
    isWrong = true
    assert.deepEqual(await all(), [200, 503, 503])
    const refused = await app.inject('/master')
    assert.deepEqual([refused.json().code, refused.json().details.reason], ['NOT_READY', 'clock'])
    assert.equal(refused.headers['cache-control'], 'no-store')
    isWrong = false
    assert.deepEqual(await all(), [200, 200, 200])
  })
})
