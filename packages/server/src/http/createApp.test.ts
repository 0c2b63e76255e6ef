import assert from 'node:assert/strict'
import { Writable } from 'node:stream'
import { describe, it } from 'node:test'
import { Annotated, ApiError, Closed, DecimalSchema } from '@bezel/protocol'
import { Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import { createApp } from './createApp.ts'

interface LoggedError {
  readonly message: string
  readonly code: string
  readonly stack: string
  readonly cause?: LoggedError
}

it('leaves a body as it came: a default in a schema is for readers', async () => {
  const app = createApp('silent')
  const body = Closed({ slippage: Type.Optional(Annotated(DecimalSchema, { default: '1' })) })
  app.post('/echo', { schema: { body } }, async (request) => ({ got: request.body }))
  const answer = await app.inject({ method: 'POST', url: '/echo', payload: {} })
  assert.deepEqual(answer.json(), { got: {} })
  await app.close()
})

describe('the log of answers', () => {
  /** Creates a server whose log lines are collected. */
  function createLoggedApp(level: string): {
    readonly app: FastifyInstance
    readonly lines: Record<string, unknown>[]
  } {
    const lines: Record<string, unknown>[] = []
    const stream = new Writable({
      write(chunk, _encoding, done) {
        lines.push(JSON.parse(String(chunk)))
        done()
      },
    })
    const app = createApp(level, { node: 'node-1', stream })
    app.get('/well', { schema: { operationId: 'getWell' } as object }, async () => ({}))
    app.get('/refused', { schema: { operationId: 'getRefused' } as object }, async () => {
      throw new ApiError('PRECISION_ERROR', 'too fine')
    })
    app.get('/failed', { schema: { operationId: 'getFailed' } as object }, async () => {
      throw new Error('inside')
    })
    return { app, lines }
  }

  const CASES = [
    { url: '/well', operation: 'getWell', status: 200, code: undefined },
    { url: '/refused', operation: 'getRefused', status: 422, code: 'PRECISION_ERROR' },
    { url: '/failed', operation: 'getFailed', status: 500, code: 'INTERNAL' },
    { url: '/nowhere', operation: 'none', status: 404, code: 'NOT_FOUND' },
    { url: '/%', operation: 'none', status: 400, code: 'VALIDATION_ERROR' },
  ]

  for (const { url, ...expected } of CASES) {
    it(`has one line for ${url}, with request, operation, code, status, time and node`, async () => {
      const { app, lines } = createLoggedApp('info')
      const answer = await app.inject({ url, headers: { 'x-request-id': 'mine' } })
      await app.close()
      assert.equal(answer.statusCode, expected.status)
      const answered = lines.filter(({ msg }) => msg === 'answered')
      assert.deepEqual(
        answered.map(({ requestId, operation, status, code, node }) => ({ requestId, operation, status, code, node })),
        [{ requestId: 'mine', node: 'node-1', ...expected }],
      )
      assert.ok(Number(answered[0]!['ms']) >= 0, 'it has its time')
    })
  }

  it('has nothing of headers, bodies and queries', async () => {
    const { app, lines } = createLoggedApp('info')
    await app.inject({ url: '/well?key=in-query', headers: { 'x-service-signature': 'in-header' } })
    await app.inject({ url: '/in-path' })
    await app.close()
    assert.equal(lines.length, 2)
    assert.doesNotMatch(JSON.stringify(lines), /in-query|in-header|in-path/)
  })

  it('has of an error its message, code, stack and causes, and none of the fields that drivers add', async () => {
    const { app, lines } = createLoggedApp('info')
    app.get('/row', async () => {
      const cause = Object.assign(new Error('refused'), { code: '23505', detail: 'Key (name)=(secret-row)' })
      throw Object.assign(new Error('not stored', { cause }), {
        input: 'redis://:secret-url@h',
        command: 'secret-word',
      })
    })
    app.get('/text', async () => {
      throw { toString: () => 'secret-text' }
    })
    await app.inject({ url: '/row' })
    await app.inject({ url: '/text' })
    await app.close()
    const [row, text] = lines.filter(({ msg }) => msg === 'request failed').map(({ err }) => err as LoggedError)
    assert.deepEqual([row!.message, row!.cause!.message, row!.cause!.code], ['not stored', 'refused', '23505'])
    assert.match(row!.stack, /createApp\.test/)
    assert.equal(text!.message, 'no error was thrown')
    assert.doesNotMatch(JSON.stringify(lines), /secret-/)
  })

  it('is not written above its level; every other line has the node too', async () => {
    const { app, lines } = createLoggedApp('warn')
    await app.inject({ url: '/well' })
    app.log.warn('a warning')
    await app.close()
    assert.deepEqual(
      lines.map(({ msg, node }) => [msg, node]),
      [['a warning', 'node-1']],
    )
  })
})
