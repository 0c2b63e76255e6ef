import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { clientIp, UNKNOWN_IP } from './clientIp.ts'

const PROXY = '10.0.0.1'
const of = (
  forwardedFor: string | readonly string[] | undefined,
  trustedProxies: number,
  socketAddress = PROXY,
): string => clientIp({ socketAddress, forwardedFor, trustedProxies })

describe('clientIp', () => {
  it('is the address of the socket when no proxy is trusted, whatever the header says', () => {
    assert.equal(of('1.1.1.1', 0, '9.9.9.9'), '9.9.9.9')
    assert.equal(of(undefined, 0, '::ffff:9.9.9.9'), '9.9.9.9')
  })

  it('is the entry that the outermost trusted proxy wrote', () => {
    assert.equal(of('1.1.1.1', 1), '1.1.1.1')
    assert.equal(of('6.6.6.6, 1.1.1.1', 1), '1.1.1.1')
    assert.equal(of('6.6.6.6, 1.1.1.1,10.0.0.2', 2), '1.1.1.1')
    assert.equal(of('6.6.6.6, 1.1.1.1 , 10.0.0.2 ,\t10.0.0.3', 3), '1.1.1.1')
    assert.equal(of(['6.6.6.6', '1.1.1.1'], 1), '1.1.1.1')
    assert.equal(of(['6.6.6.6, 1.1.1.1', '10.0.0.2'], 2), '1.1.1.1')
  })

  it('reads the spellings of proxies', () => {
    assert.equal(of('1.1.1.1:5678', 1), '1.1.1.1')
    assert.equal(of('[2001:db8::1]:443', 1), '2001:db8:0:0:0:0:0:1')
    assert.equal(of('[2001:db8::1]', 1), '2001:db8:0:0:0:0:0:1')
    assert.equal(of('::ffff:1.1.1.1', 1), '1.1.1.1')
  })

  it('takes the left-most entry when there are fewer than proxies, and the socket when there is none', () => {
    assert.equal(of('1.1.1.1', 3), '1.1.1.1')
    assert.equal(of('1.1.1.1, 10.0.0.2', 3), '1.1.1.1')
    assert.equal(of(undefined, 3), PROXY)
    assert.equal(of([], 1), PROXY)
  })

  it('falls back to the socket when the entry is no address', () => {
    const hostile = [
      '',
      ',',
      ',,,,',
      'unknown',
      '_hidden',
      'localhost',
      '1.1.1.1;',
      '"1.1.1.1"',
      '[::1',
      '::1]',
      '1.1.1.1:',
      '\0',
      '%',
    ]
    for (const entry of [...hostile, '1.1.1.1:999999', '[1.1.1.1', `${'1.1.1.1 '.repeat(1_000)}`, '9'.repeat(16_000)]) {
      assert.equal(of(`6.6.6.6,${entry}`, 1), PROXY, entry.slice(0, 40))
    }
    // Commas at the end are entries too: nothing the client wrote may move into the place of a proxy's.
    assert.equal(of('6.6.6.6,', 1), PROXY)
    assert.equal(of(',6.6.6.6', 2), PROXY)
  })

  it('has a name for a client without an address', () => {
    assert.equal(clientIp({ socketAddress: undefined, forwardedFor: undefined, trustedProxies: 0 }), UNKNOWN_IP)
    assert.equal(clientIp({ socketAddress: undefined, forwardedFor: 'x', trustedProxies: 1 }), UNKNOWN_IP)
    assert.equal(clientIp({ socketAddress: undefined, forwardedFor: '1.1.1.1', trustedProxies: 1 }), '1.1.1.1')
  })

  it('can not be moved by anything the client sends', () => {
    const proxies = fc.integer({ min: 1, max: 4 })
    fc.assert(
      fc.property(fc.string({ maxLength: 60 }), fc.ipV4(), proxies, (sent, client, count) => {
        const written = [client, ...Array.from({ length: count - 1 }, (_, i) => `10.0.0.${i + 2}`)]
        assert.equal(of([sent, ...written].join(', '), count), client)
      }),
      { numRuns: 1_000 },
    )
  })
})
