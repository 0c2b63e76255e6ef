import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'

// "A number with a scale has a type; the scale itself is written once": in scales.ts of the protocol.

const ROOT = join(import.meta.dirname, '..')
const SCALES = 'packages/protocol/src/values/scales.ts'

/** Matches a constant or field with DECIMALS in its name, however it is declared. */
const DECIMALS_CONSTANT = /\b(?:const|let|var|static|readonly|enum)\s+([A-Z0-9_]*DECIMALS[A-Z0-9_]*)\b/g

/** Matches a scale that is a bare number where text becomes an integer, or the reverse. */
const BARE_SCALE = /\b(?:scaleDecimal|scaleDecimalTruncated|formatDecimal)\((?:[^()\n]|\([^()\n]*\))*, \d+\)/g

/** Lists every source file of the repository, including those not committed yet. */
function listSources(): string[] {
  const listed = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], { cwd: ROOT, encoding: 'utf8' })
  const isSource = (path: string): boolean => /\.(?:ts|tsx|js|mjs|cjs)$/.test(path) && existsSync(join(ROOT, path))
  return listed.split('\n').filter(isSource)
}

/** Returns `path: NAME` for every decimals constant outside the one file for them. */
function decimalsConstants(path: string, text: string): string[] {
  if (path === SCALES) return []
  return [...text.matchAll(DECIMALS_CONSTANT)].map(([, name]) => `${path}: ${name}`)
}

/** Returns `path: call` for every bare scale in production code. */
function bareScales(path: string, text: string): string[] {
  const isProduction = path.startsWith('packages/') && !/\.test\.ts$|\/testing\//.test(path)
  return isProduction && path !== SCALES ? [...text.matchAll(BARE_SCALE)].map(([call]) => `${path}: ${call}`) : []
}

const sources = listSources().map((path) => [path, readFileSync(join(ROOT, path), 'utf8')] as const)

describe('constants of decimals', () => {
  it('stand in scales.ts of the protocol alone', () => {
    assert.ok(sources.length > 500, 'the sources are found')
    const here = 'scripts/scales.test.ts'
    assert.deepEqual(
      sources.flatMap(([path, text]) => (path === here ? [] : decimalsConstants(path, text))),
      [],
    )
  })

  it('would be seen anywhere else', () => {
    const planted = ['const PRICE_DECIMALS = 10', 'export const MAX_SZ_DECIMALS: number = 6', 'let DECIMALS = 3'].join(
      '\n',
    )
    assert.deepEqual(decimalsConstants('packages/server/src/market/planted.ts', planted), [
      'packages/server/src/market/planted.ts: PRICE_DECIMALS',
      'packages/server/src/market/planted.ts: MAX_SZ_DECIMALS',
      'packages/server/src/market/planted.ts: DECIMALS',
    ])
    assert.deepEqual(decimalsConstants(SCALES, planted), [])
  })
})

describe('a scale as a bare number', () => {
  it('stands nowhere in production code', () => {
    assert.deepEqual(
      sources.flatMap(([path, text]) => bareScales(path, text)),
      [],
    )
  })

  it('would be seen', () => {
    const planted = 'const text = formatDecimal(priceOf(market), 10)'
    const path = 'packages/server/src/market/planted.ts'
    assert.deepEqual(bareScales(path, planted), [`${path}: formatDecimal(priceOf(market), 10)`])
  })
})
