import assert from 'node:assert/strict'
import { SocketAddress } from 'node:net'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { networkOf, parseIpAddress } from './ipAddress.ts'

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
