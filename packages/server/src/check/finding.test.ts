import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { counted, failure, hostOf, lengthOf, note, ok, quoted, reportOf, serverName, warning } from './finding.ts'

describe('reportOf', () => {
  const groupOf = (...findings: ReturnType<typeof ok>[]) => ({ title: 't', sections: [{ subject: 's', findings }] })

  it('is well with notes and warnings, and not with a failure', () => {
    const good = reportOf([groupOf(ok('a', 'A.'), note('b', 'B.')), groupOf(warning('c', 'C.'))])
    assert.deepEqual([good.ok, good.failures, good.warnings], [true, 0, 1])
    const bad = reportOf([groupOf(ok('a', 'A.'), failure('b', 'B.'))])
    assert.deepEqual([bad.ok, bad.failures, bad.warnings], [false, 1, 0])
  })
})

describe('names of servers', () => {
  it('show the host, and nothing that may be a key', () => {
    const url = 'https://me:password@node.example:8443/v2/abcdef?key=123456#x'
    assert.equal(serverName('provider', 2, url), 'provider 2 (node.example:8443)')
    assert.equal(hostOf('https://node.example/abcdef'), 'node.example')
    assert.equal(hostOf('nonsense'), 'no address')
  })
})

describe('quoted', () => {
  const URL_WITH_KEYS = 'https://user:passw@node.example/v2/path-key/x?apikey=query-key'

  it('hides every part of the address that may be a key', () => {
    const words = 'project path-key has no apikey query-key, user passw: see https://node.example/v2/path-key?x=1.'
    const text = quoted(words, URL_WITH_KEYS)
    for (const secret of ['path-key', 'query-key', 'passw']) assert.ok(!text.includes(secret), text)
    assert.match(text, /see node\.example/)
  })

  it('hides keys with signs that addresses encode, and bears those that make no sense', () => {
    assert.equal(quoted('no plan for my key!', 'http://a/my%20key!'), 'no plan for ***')
    assert.equal(quoted('no plan for %zz-key', 'http://a/%zz-key'), 'no plan for ***')
  })

  it('is one short line without control characters', () => {
    assert.equal(quoted('a\n\tb\u001b[31mc', 'http://a'), 'a b [31mc')
    assert.equal(quoted('x'.repeat(500), 'http://a').length, 120)
  })
})

describe('numbers in sentences', () => {
  it('have their noun', () => {
    assert.deepEqual(
      [counted(1, 'call'), counted(0, 'call'), counted(14_400, 'call')],
      ['1 call', '0 calls', '14,400 calls'],
    )
  })

  it('have the unit that fits', () => {
    const lengths = [12.4, 1_500, 5_000, 61_000, 600_000, 7_200_000].map(lengthOf)
    assert.deepEqual(lengths, ['12 ms', '1.5 s', '5 s', '61 s', '10 minutes', '2 hours'])
  })
})
