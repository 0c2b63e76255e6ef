import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { readSignatureHeaders } from './signatureHeaders.ts'

const GOOD = {
  'x-gains-agent': `0x${'ab'.repeat(20)}`,
  'x-gains-timestamp': '1700000000000',
  'x-gains-nonce': '1700000000000001',
  'x-gains-signature': `0x${'11'.repeat(65)}`,
}
const read = (headers: Record<string, string | undefined>) => readSignatureHeaders(headers, 'X-Gains-')

describe('readSignatureHeaders', () => {
  it('reads the four headers under the configured prefix', () => {
    const headers = read(GOOD)
    assert.equal(headers?.nonce, '1700000000000001')
    assert.equal(headers?.agent.toLowerCase(), GOOD['x-gains-agent'])
    assert.equal(readSignatureHeaders(GOOD, 'X-Service-'), undefined)
  })

  it('is undefined without any of them and UNAUTHENTICATED without some', () => {
    assert.equal(read({}), undefined)
    for (const name of Object.keys(GOOD)) {
      assert.throws(() => read({ ...GOOD, [name]: undefined }), { code: 'UNAUTHENTICATED' })
    }
  })

  it('is VALIDATION_ERROR, naming the header, when one is malformed', () => {
    const malformed = [
      ['x-gains-agent', '0x12'],
      ['x-gains-timestamp', '-1'],
      ['x-gains-timestamp', '1.5'],
      ['x-gains-timestamp', '99999999999999999'],
      ['x-gains-nonce', '01'],
      ['x-gains-nonce', '+1'],
      ['x-gains-nonce', '9'.repeat(79)],
      ['x-gains-signature', '0x'],
      ['x-gains-signature', `0x${'11'.repeat(64)}`],
    ] as const
    for (const [name, value] of malformed) {
      assert.throws(
        () => read({ ...GOOD, [name]: value }),
        (error: { code: string; details: { issues: { path: string }[] } }) => {
          assert.equal(error.code, 'VALIDATION_ERROR')
          assert.deepEqual(
            error.details.issues.map(({ path }) => path.toLowerCase()),
            [`headers.${name}`],
          )
          return true
        },
      )
    }
  })
})
