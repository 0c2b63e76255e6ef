import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { isLocalRequest, isLoopbackName } from './localRequest.ts'

type Asked = Parameters<typeof isLocalRequest>[0]

const asked = (remoteAddress: string | undefined, headers: Asked['headers'] = {}): Asked =>
  ({ socket: { remoteAddress }, headers }) as Asked

describe('isLocalRequest', () => {
  it('is true for this machine in every spelling, and for nobody else', () => {
    for (const address of ['127.0.0.1', '127.9.9.9', '::1', '::ffff:127.0.0.1']) {
      assert.ok(isLocalRequest(asked(address)), address)
    }
    for (const address of [undefined, '', '10.0.0.1', '::2', '::ffff:10.0.0.1', '128.0.0.1', '0.0.0.0']) {
      assert.ok(!isLocalRequest(asked(address)), String(address))
    }
  })

  it('is false for what a proxy on this machine forwarded', () => {
    for (const name of ['x-forwarded-for', 'forwarded', 'via', 'x-real-ip']) {
      assert.ok(!isLocalRequest(asked('127.0.0.1', { [name]: '127.0.0.1' })), name)
    }
  })
})

describe('isLoopbackName', () => {
  it('knows the names of this machine, with and without a port', () => {
    for (const name of ['localhost', 'LocalHost:8080', '127.0.0.1', '127.0.0.1:80', '[::1]', '[::1]:8080', '::1']) {
      assert.ok(isLoopbackName(name), name)
    }
  })

  it('knows no other name, also none that begins or ends like one', () => {
    for (const name of [
      undefined,
      '',
      'evil.example',
      'localhost.evil.example',
      'evil.localhost',
      '127.0.0.1.evil.example',
      '127.0.0.1:80:80',
      'localhost:8080;script-src *',
      'localhost 127.0.0.1',
      '0.0.0.0',
      '[::2]',
    ]) {
      assert.ok(!isLoopbackName(name), String(name))
    }
  })
})
