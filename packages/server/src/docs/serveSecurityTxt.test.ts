import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createApp } from '../http/createApp.ts'
import { serveSecurityTxt } from './serveSecurityTxt.ts'

const NOW_MS = Date.UTC(2026, 10, 15, 13)

const DAY_MS = 86_400_000

describe('/.well-known/security.txt', () => {
  const ask = (securityContact: string | undefined) => {
    const app = createApp('silent')
    serveSecurityTxt(app, { securityContact, now: () => NOW_MS })
    return app.inject('/.well-known/security.txt')
  }

  it('has the fields that RFC 9116 requires, each on a line of its own', async () => {
    const answer = await ask('mailto:security@example.com')
    assert.equal(answer.statusCode, 200)
    assert.equal(answer.headers['content-type'], 'text/plain; charset=utf-8')
    const fields = new Map(
      answer.body
        .trimEnd()
        .split('\n')
        .map((line) => line.split(/: (.*)/).slice(0, 2) as [string, string]),
    )
    assert.equal(fields.get('Contact'), 'mailto:security@example.com')
    const expires = fields.get('Expires') ?? ''
    // A date and time of RFC 3339 that lies ahead, by less than a year.
    assert.match(expires, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/)
    const aheadMs = Date.parse(expires) - NOW_MS
    assert.ok(aheadMs > 30 * DAY_MS && aheadMs < 365 * DAY_MS)
  })

  it('does not exist without a contact', async () => {
    const answer = await ask(undefined)
    assert.equal(answer.statusCode, 404)
    assert.equal(answer.json().code, 'NOT_FOUND')
  })
})
