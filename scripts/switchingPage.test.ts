import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { describe, it } from 'node:test'
import {
  CollateralPrice,
  diamondAbi,
  Leverage,
  ORDER_STATUSES,
  PercentP,
  Price,
  Slippage,
  TokenSize,
} from '@bezel/protocol'
import { referenceDocument } from '../packages/server/src/docs/openapi/createDocument.ts'
import { ENCODED_CALLS } from '../packages/server/src/trading/plan/encodeCall.ts'

const page = readFileSync('docs/switching.md', 'utf8')
// The package is CommonJS, and its index loads more than it exports to modules.
const published = createRequire(import.meta.url)('@gainsnetwork/sdk') as Readonly<Record<string, unknown>>

/** Returns the rows of the table whose head begins with this cell: the cells of each. */
function rowsOf(head: string): string[][] {
  const [, table = ''] = page.split(`\n| ${head} |`)
  assert.notEqual(table, '', `the page has no table ${head}`)
  const lines = table.split('\n\n')[0]!.split('\n').slice(2)
  return lines.map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  )
}

/** Returns the names in a cell. */
function namesIn(cell = ''): string[] {
  return [...cell.matchAll(/`(\w+)`/g)].map(([, name]) => name!)
}

function unknown(names: readonly string[], known: Iterable<string>): string[] {
  const all = new Set(known)
  return names.filter((name) => !all.has(name))
}

const namesOf = (type: string): string[] => diamondAbi.flatMap((entry) => (entry.type === type ? [entry.name] : []))

describe('the page for those who switch', () => {
  it('names calls of the Diamond and operations that there are, and every call that is prepared', () => {
    const rows = rowsOf('Call of the Diamond')
    const calls = rows.flatMap(([call]) => namesIn(call))
    const operations = Object.values(referenceDocument().paths).flatMap((methods) =>
      Object.values(methods).map(({ operationId }) => operationId),
    )
    assert.deepEqual(unknown(calls, namesOf('function')), [])
    assert.deepEqual(
      unknown(
        rows.flatMap(([, operation]) => namesIn(operation)),
        operations,
      ),
      [],
    )
    assert.deepEqual(unknown(ENCODED_CALLS, [...calls, 'delegatedTradingAction']), [])
  })

  it('names events of the Diamond and statuses that there are', () => {
    const rows = rowsOf('There | `status` here')
    const names = [...rowsOf('Event of the Diamond'), ...rows].flatMap(([event]) => namesIn(event))
    const events = names.filter((name) => /^[A-Z]/.test(name))
    assert.ok(events.length > 10)
    assert.deepEqual(unknown(events, namesOf('event')), [])
    const statuses = rows.map(([, status]) => namesIn(status)[0]!)
    assert.deepEqual(unknown(statuses, ORDER_STATUSES), [])
  })

  it('names functions that the published SDK has', () => {
    const names = rowsOf('Function of the SDK').flatMap(([name]) => namesIn(name))
    assert.deepEqual(
      names.filter((name) => typeof published[name] !== 'function'),
      [],
    )
  })

  it('has the units of the published SDK and of our code', () => {
    const units = new Map(
      rowsOf('Contracts, backend').flatMap(([names, unit]) =>
        namesIn(names).map((name) => [name, Number.parseFloat(unit!)]),
      ),
    )
    const one = (name: string): string => String(units.get(name))
    const convert = published.convertTradeContainerBackend as (
      trade: object,
      collaterals: object[],
    ) => {
      trade: Record<string, number>
      tradeInfo: Record<string, number>
    }
    const trade = { collateralIndex: '1', ...textOf(['leverage', 'openPrice', 'tp', 'sl', 'positionSizeToken'], one) }
    const tradeInfo = textOf(['maxSlippageP', 'collateralPriceUsd'], one)
    const found = convert({ trade, tradeInfo, initialAccFees: {}, liquidationParams: {} }, [])
    for (const name of ['leverage', 'openPrice', 'tp', 'sl', 'positionSizeToken'])
      assert.equal(found.trade[name], 1, name)
    for (const name of ['maxSlippageP', 'collateralPriceUsd']) assert.equal(found.tradeInfo[name], 1, name)
    const scales = {
      leverage: Leverage,
      openPrice: Price,
      positionSizeToken: TokenSize,
      collateralPriceUsd: CollateralPrice,
      maxSlippageP: Slippage,
      spreadP: PercentP,
      totalPositionSizeFeeP: PercentP,
    }
    for (const [name, scale] of Object.entries(scales)) assert.equal(units.get(name), Number(scale.one), name)
  })
})

function textOf(names: readonly string[], valueOf: (name: string) => string): Record<string, string> {
  return Object.fromEntries(names.map((name) => [name, valueOf(name)]))
}
