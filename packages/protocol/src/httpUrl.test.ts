import assert from 'node:assert/strict'
import { it } from 'node:test'
import { httpUrl } from './httpUrl.ts'

it('httpUrl names an address that can be opened', () => {
  assert.equal(httpUrl('127.0.0.1', 8080), 'http://127.0.0.1:8080')
  assert.equal(httpUrl('localhost', 1), 'http://localhost:1')
  assert.equal(httpUrl('0.0.0.0', 8080), 'http://127.0.0.1:8080')
  assert.equal(httpUrl('::', 8080), 'http://127.0.0.1:8080')
  assert.equal(httpUrl('::1', 8080), 'http://[::1]:8080')
})
