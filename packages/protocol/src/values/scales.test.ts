import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { promisify } from 'node:util'
import fc from 'fast-check'
import { parseDecimal, type Decimal } from './decimal.ts'
import * as scales from './scales.ts'
import {
  CollateralAmount,
  HUNDRED_PERCENT,
  Price,
  withScales,
  type BaseSize,
  type Scale,
  type Unscaled,
} from './scales.ts'

const ROOT = join(import.meta.dirname, '..', '..', '..', '..')
const COMPILE_MS = 600_000

const decimal = (text: string): Decimal => parseDecimal(text)!
const integers = fc.bigInt({ min: -(2n ** 100n), max: 2n ** 100n })

/** Every scale of the module, by name. */
const SCALES = Object.entries<unknown>(scales).flatMap(([name, value]) =>
  isScale(value) ? [[name, value] as const] : [],
)

function isScale(value: unknown): value is Scale<bigint> {
  return typeof value === 'object' && value !== null && 'decimals' in value && 'parseTruncated' in value
}

describe('a scale', () => {
  it('is one of those that the Diamond and the interface count in', () => {
    const decimals = Object.fromEntries(SCALES.map(([name, scale]) => [name, scale.decimals]))
    assert.deepEqual(decimals, {
      Price: 10,
      Usd: 18,
      ShownNumber: 18,
      MicroUsd: 6,
      BaseSize: 18,
      TokenSize: 18,
      Leverage: 3,
      PercentP: 10,
      Fraction: 12,
      Slippage: 3,
      FundingRateP: 18,
      FundingFraction: 20,
      Ratio: 10,
      CollateralPrice: 8,
      FeeMultiplier: 18,
      Wei: 18,
      WholeCollateral: 10,
    })
  })

  it('gives back every integer that it wrote', () => {
    fc.assert(
      fc.property(fc.constantFrom(...SCALES), integers, ([, scale], units) => {
        const text = scale.format(scale.of(units))
        assert.equal(scale.parse(text), units)
        assert.equal(scale.parseTruncated(text), units)
      }),
    )
  })

  it('has the integer of 1 and of 0', () => {
    for (const [name, scale] of SCALES) {
      assert.equal(scale.parse(decimal('1')), scale.one, name)
      assert.equal(scale.format(scale.one), '1', name)
      assert.equal(scale.parse(decimal('0')), scale.zero, name)
    }
  })

  it('parses exactly or not at all, and cuts further places off toward zero only when told to', () => {
    for (const [name, scale] of SCALES) {
      const finest = `0.${'0'.repeat(scale.decimals - 1)}1`
      assert.equal(scale.parse(decimal(finest)), 1n, name)
      assert.equal(scale.parse(decimal(`${finest}9`)), undefined, name)
      assert.equal(scale.parseTruncated(decimal(`${finest}9`)), 1n, name)
      assert.equal(scale.parseTruncated(decimal(`-${finest}9`)), -1n, name)
    }
  })

  it('takes an integer of the chain as it is, also one that was decoded to a number', () => {
    assert.equal(Price.of(650_000_000_000_000n), Price.parse(decimal('65000')))
    assert.equal(scales.Leverage.of(10_500), scales.Leverage.parse(decimal('10.5')))
    assert.throws(() => scales.Leverage.of(10.5), RangeError)
  })

  it('counts 100 % as 100', () => {
    assert.equal(scales.PercentP.format(HUNDRED_PERCENT), '100')
    assert.equal(scales.Fraction.format(scales.Fraction.of(HUNDRED_PERCENT)), '1')
  })

  it('makes the product of an order size and a price an exact USD amount', () => {
    // No market takes a size of more than 8 decimals.
    const size = scales.BaseSize.parse(decimal('0.00000001'))!
    const price = Price.parse(decimal('0.0000000001'))!
    assert.equal(scales.Usd.format(scales.Usd.of((size * price) / Price.one)), '0.000000000000000001')
  })
})

describe('an amount of a collateral', () => {
  it('is counted in the decimals of its token', () => {
    assert.equal(CollateralAmount.parse(decimal('1.5'), 6), 1_500_000n)
    assert.equal(CollateralAmount.parse(decimal('1.5000001'), 6), undefined)
    assert.equal(CollateralAmount.parseTruncated(decimal('-1.5000009'), 6), -1_500_000n)
    assert.equal(CollateralAmount.format(CollateralAmount.of(1_500_000n), 6), '1.5')
    assert.equal(CollateralAmount.one(18), 10n ** 18n)
    assert.equal(CollateralAmount.zero, 0n)
  })

  it('gives back every integer that it wrote', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 30 }), integers, (decimals, units) => {
        assert.equal(
          CollateralAmount.parse(CollateralAmount.format(CollateralAmount.of(units), decimals), decimals),
          units,
        )
      }),
    )
  })
})

describe('a record that was decoded', () => {
  it('is the same object, with its units stated', () => {
    interface Quote {
      readonly mark: Price
      readonly sizes: readonly BaseSize[]
      readonly name: string
    }
    const decoded: Unscaled<Quote> = { mark: 1n, sizes: [2n], name: 'BTC' }
    const quote = withScales<Quote>(decoded)
    assert.equal(quote, decoded)
  })
})

/** Compiles a program as strictly as the project. Gives what the compiler says, `''` when it has nothing against it. */
async function compile(program: string): Promise<string> {
  mkdirSync(join(ROOT, 'var'), { recursive: true })
  const folder = mkdtempSync(join(ROOT, 'var', 'scales-'))
  try {
    const scalesModule = join(import.meta.dirname, 'scales.ts')
    const head = `import { BaseSize, Leverage, Price, TokenSize, Usd } from ${JSON.stringify(scalesModule)}\n`
    writeFileSync(
      join(folder, 'program.ts'),
      `${head}${program}\nexport const used = [BaseSize, Leverage, Price, TokenSize, Usd]\n`,
    )
    const settings = { extends: join(ROOT, 'tsconfig.json'), include: [], files: ['program.ts'] }
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(settings))
    const tsc = join(ROOT, 'node_modules', '.bin', 'tsc')
    await promisify(execFile)(tsc, ['-p', folder], { timeout: COMPILE_MS })
    return ''
  } catch (error) {
    return (error as { readonly stdout?: string }).stdout ?? String(error)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

describe('the compiler', () => {
  const NOTIONAL =
    'export function notional(size: BaseSize, price: Price): Usd { return Usd.of((size * price) / Price.one) }\n'

  it('takes a price where a price is due, and arithmetic of any of them', async () => {
    const program = `${NOTIONAL}export const usd: Usd = notional(BaseSize.one, Price.one)\nexport const raw: bigint = -usd + Price.one`
    assert.equal(await compile(program), '')
  })

  it('refuses a size where a price is due, each of the others too, and an integer without a unit', async () => {
    const refused = [
      'notional(Price.one, BaseSize.one)',
      'notional(TokenSize.one, Price.one)',
      'notional(BaseSize.one, 65_000n)',
      'notional(BaseSize.one, Price.one * 2n)',
      'Price.format(BaseSize.one)',
    ]
    const output = await compile(`${NOTIONAL}${refused.map((call, at) => `export const x${at} = ${call}`).join('\n')}`)
    const lines = new Set(
      [...output.matchAll(/program\.ts\((\d+),\d+\): error TS2345/g)].map(([, line]) => Number(line)),
    )
    assert.deepEqual([...lines], [3, 4, 5, 6, 7], output)
  })
})
