import assert from 'node:assert/strict'
import { SocketAddress } from 'node:net'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { networkOf, parseIpAddress, clientIp, registrationNetworkOf, UNKNOWN_IP } from './ipAddress.ts'

const PROXY = '10.0.0.1'

const of = (
  forwardedFor: string | readonly string[] | undefined,
  trustedProxies: number,
  socketAddress = PROXY,
): string => clientIp({ socketAddress, forwardedFor, trustedProxies })

describe('parseIpAddress', () => {
  it('gives one spelling to one address', () => {
    for (const [text, canonical] of [
      ['1.2.3.4', '1.2.3.4'],
      ['::ffff:1.2.3.4', '1.2.3.4'],
      ['::FFFF:0102:0304', '1.2.3.4'],
      ['0:0:0:0:0:ffff:1.2.3.4', '1.2.3.4'],
      ['::ffff:255.255.255.255', '255.255.255.255'],
      ['::', '0:0:0:0:0:0:0:0'],
      ['::1', '0:0:0:0:0:0:0:1'],
      ['1::', '1:0:0:0:0:0:0:0'],
      ['2001:DB8::00a1', '2001:db8:0:0:0:0:0:a1'],
      ['2001:0db8:0000:0000:0000:0000:0000:00a1', '2001:db8:0:0:0:0:0:a1'],
      ['64:ff9b::1.2.3.4', '64:ff9b:0:0:0:0:102:304'],
      ['fe80::1%eth0', 'fe80:0:0:0:0:0:0:1'],
      ['::1.2.3.4', '0:0:0:0:0:0:102:304'],
      ['ffff::1.2.3.4', 'ffff:0:0:0:0:0:102:304'],
    ]) {
      assert.equal(parseIpAddress(text!), canonical, text)
    }
  })

  it('refuses everything else', () => {
    const others = [
      '',
      ' ',
      'unknown',
      '1.2.3',
      '1.2.3.4.5',
      '256.1.1.1',
      '01.2.3.4',
      '1.2.3.4 ',
      '1.2.3.4:80',
      '0x1.2.3.4',
    ]
    const broken6 = [
      ':',
      ':::',
      '1::2::3',
      '12345::',
      'g::',
      '[::1]',
      '1:2:3:4:5:6:7',
      '1:2:3:4:5:6:7:8:9',
      '::1.2.3.4.5',
    ]
    for (const text of [...others, ...broken6, '1\u0000', '١.٢.٣.٤', '9'.repeat(10_000)]) {
      assert.equal(parseIpAddress(text), undefined, text.slice(0, 40))
    }
  })

  it('agrees with the system about which texts are one address', () => {
    const system = (address: string): string => new SocketAddress({ address, family: 'ipv6' }).address
    fc.assert(
      fc.property(fc.ipV6(), (text) => {
        const ours = parseIpAddress(text) ?? assert.fail(text)
        if (ours.includes(':')) assert.equal(system(ours), system(text))
        else assert.match(system(text), /^::ffff:/)
      }),
      { numRuns: 2_000 },
    )
  })
})

describe('networkOf', () => {
  const network = (text: string): string => networkOf(parseIpAddress(text) ?? assert.fail(text))

  it('is the /64 of an IPv6 address and the whole of an IPv4 one', () => {
    assert.equal(network('2001:db8:1:2:3:4:5:6'), '2001:db8:1:2::/64')
    assert.equal(network('2001:db8:1:2::'), network('2001:db8:1:2:ffff:ffff:ffff:ffff'))
    assert.notEqual(network('2001:db8:1:2::'), network('2001:db8:1:3::'))
    assert.equal(network('::ffff:10.0.0.1'), '10.0.0.1')
    assert.notEqual(network('10.0.0.1'), network('10.0.0.2'))
  })
})

describe('registrationNetworkOf', () => {
  const network = (text: string): string => registrationNetworkOf(parseIpAddress(text) ?? assert.fail(text))

  it('is the /24 of an IPv4 address and the /48 of an IPv6 one', () => {
    assert.equal(network('10.1.2.3'), '10.1.2.0/24')
    assert.equal(network('::ffff:10.1.2.200'), '10.1.2.0/24')
    assert.notEqual(network('10.1.2.3'), network('10.1.3.3'))
    assert.equal(network('2001:db8:1:2:3:4:5:6'), '2001:db8:1::/48')
    assert.equal(network('2001:db8:1::'), network('2001:db8:1:ffff:ffff:ffff:ffff:ffff'))
    assert.notEqual(network('2001:db8:1::'), network('2001:db8:2::'))
    assert.equal(registrationNetworkOf(UNKNOWN_IP), UNKNOWN_IP)
  })
})

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
    // Empty entries count too: nothing that the client wrote may take the place of a proxy's entry.
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
