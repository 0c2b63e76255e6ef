import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { chooseCoding, prefersHtml } from './negotiation.ts'

const LARGE = 100_000

describe('the coding of a body', () => {
  const cases: readonly (readonly [
    header: string | undefined,
    large: string | undefined,
    small: string | undefined,
  ])[] = [
    [undefined, undefined, undefined],
    ['', undefined, undefined],
    ['gzip', 'gzip', undefined],
    ['br', 'br', undefined],
    ['gzip, deflate, br, zstd', 'br', undefined],
    ['gzip;q=1.0, br;q=0.5', 'gzip', undefined],
    ['GZIP ; Q=0.5', 'gzip', undefined],
    ['x-gzip', 'gzip', undefined],
    ['*', 'br', undefined],
    ['br;q=0, *', 'gzip', undefined],
    ['*;q=0.3, gzip;q=0.2', 'br', undefined],
    ['gzip;q=0', undefined, undefined],
    ['gzip;q=0, br;q=0.000', undefined, undefined],
    ['deflate, zstd', undefined, undefined],
    ['identity', undefined, undefined],
    ['identity, gzip;q=0.5', undefined, undefined],
    ['identity;q=0.5, gzip', 'gzip', undefined],
    ['identity;q=0.5, gzip;q=0.5', 'gzip', undefined],
    // Refused uncompressed: a small body is compressed, too.
    ['identity;q=0, gzip', 'gzip', 'gzip'],
    ['gzip, *;q=0', 'gzip', 'gzip'],
    ['identity;q=0', undefined, undefined],
    ['identity;q=0, *', 'br', 'br'],
    ['*;q=0', undefined, undefined],
    // Qualities that are none.
    ['gzip;q=2', undefined, undefined],
    ['gzip;q=-1, br;q=x', undefined, undefined],
    ['gzip;q=0.1234, br;q=0.5', 'br', undefined],
    ['gzip;q=1.', 'gzip', undefined],
    [',,;,gzip,', 'gzip', undefined],
    ['__proto__, constructor, gzip', 'gzip', undefined],
  ]
  for (const [header, large, small] of cases) {
    it(`is ${large ?? 'none'} for ${JSON.stringify(header)}, ${small ?? 'none'} of a small one`, () => {
      assert.equal(chooseCoding(header, LARGE), large)
      assert.equal(chooseCoding(header, 1_023), small)
    })
  }

  it('is never one that the client refuses, whatever it sends', () => {
    const entry = fc.tuple(
      fc.constantFrom('br', 'gzip', 'identity', 'deflate', '*', 'x'),
      fc.constantFrom('', ';q=0', ';q=0.5', ';q=1', ';q=7', '; q=0.001', ';x=1'),
    )
    fc.assert(
      fc.property(fc.array(entry, { maxLength: 6 }), (entries) => {
        const coding = chooseCoding(entries.map((one) => one.join('')).join(', '), LARGE)
        if (coding === undefined) return
        const valid = entries.filter(([, quality]) => quality !== ';q=7')
        const named = valid.filter(([name]) => name === coding)
        const those = named.length > 0 ? named : valid.filter(([name]) => name === '*')
        assert.ok(those.some(([, quality]) => quality !== ';q=0'))
      }),
    )
    fc.assert(fc.property(fc.string(), (header) => void chooseCoding(header, LARGE)))
  })
})

describe('a client', () => {
  const cases: readonly (readonly [header: string | undefined, isHtml: boolean])[] = [
    // Firefox, Chromium, Safari and an old browser.
    ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', true],
    ['text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8', true],
    ['text/html, application/xhtml+xml, */*', true],
    ['text/html', true],
    ['TEXT/HTML;charset=utf-8', true],
    ['text/*', true],
    ['text/*;q=0.5, application/json;q=0.4', true],
    [undefined, false],
    ['', false],
    ['*/*', false],
    ['application/json', false],
    ['application/json, text/plain, */*', false],
    ['application/json, text/html;q=0.9', false],
    ['text/html, application/json', false],
    ['text/html;q=0.4, application/*;q=0.5', false],
    ['text/html;q=0', false],
    ['text/html;q=0, application/json;q=0', false],
    ['text/html;q=nonsense', false],
    ['text/html;q=0, */*', false],
    ['image/png', false],
    ['text/htmlx', false],
  ]
  for (const [header, isHtml] of cases) {
    it(`${isHtml ? 'prefers' : 'does not prefer'} HTML with ${JSON.stringify(header)}`, () => {
      assert.equal(prefersHtml(header), isHtml)
    })
  }
})
