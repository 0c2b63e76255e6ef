import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { estimateCalls, sumCalls, tellEstimate } from './estimateCalls.ts'

const CONFIG = { headPollMs: 2_000, marketsRefreshMs: 10_000, accountRefreshMs: 30_000 }

const OPTIONS = { finality: 'tag', config: CONFIG, collaterals: 4, hasMulticall: true } as const

const DAY_S = 86_400

describe('estimateCalls', () => {
  const partOf = (name: string, changed: object) =>
    estimateCalls({ ...OPTIONS, hasSocket: false, ...changed }).idle.find((part) => part.name === name)!.callsPerDay

  it('looks by the interval, and rarely where heads are pushed', () => {
    assert.deepEqual(partOf('new blocks', {}), { eth_getBlockByNumber: DAY_S, eth_getLogs: DAY_S / 2 })
    assert.deepEqual(partOf('new blocks', { hasSocket: true }), {
      eth_getBlockByNumber: DAY_S / 5,
      eth_getLogs: DAY_S / 10,
    })
  })

  it('follows the settings, the rule of finality and Multicall3', () => {
    const rare = { ...CONFIG, marketsRefreshMs: 20_000 }
    assert.equal(partOf('markets', {}).eth_call! - partOf('markets', { config: rare }).eth_call!, DAY_S / 20)
    assert.equal(partOf('markets', { hasMulticall: false }).eth_call, (DAY_S / 10) * 47 + 24 * 38)
    assert.equal(partOf('finalized block', {}).eth_getBlockByNumber, DAY_S / 15)
    assert.equal(partOf('finalized block', { finality: { blocks: 64 } }).eth_getBlockByNumber, 0)
    const { perTrader } = estimateCalls({ ...OPTIONS, hasSocket: true })
    assert.deepEqual(sumCalls([perTrader]), { calls: 2_880, units: 2_880 * 26 })
  })

  it('stays within the bounds of a live chain at the intervals of one', () => {
    const idle = (hasSocket: boolean): number => sumCalls(estimateCalls({ ...OPTIONS, hasSocket }).idle).calls
    assert.ok(idle(true) <= 100_000, String(idle(true)))
    assert.ok(idle(false) <= 250_000, String(idle(false)))
  })
})

describe('sumCalls', () => {
  it('counts units by the published table, and other methods as calls of a contract', () => {
    const callsPerDay = { eth_call: 1, eth_getLogs: 10, eth_getBlockByNumber: 100, eth_chainId: 1_000, other: 10_000 }
    assert.deepEqual(sumCalls([{ name: 'all', callsPerDay }]), { calls: 11_111, units: 26 + 600 + 2_000 + 260_000 })
  })
})

describe('tellEstimate', () => {
  it('names a price only where one is given', () => {
    const [idle, trader] = tellEstimate(OPTIONS, undefined)
    assert.match(
      idle!.text,
      /^With a WebSocket about [\d,]+ calls a day \([\d,]+ units\), without one about [\d,]+ calls/,
    )
    assert.equal(trader!.text, 'The first active trader adds about 2,900 calls a day (75,000 units).')
    assert.match(tellEstimate(OPTIONS, 0.5)[1]!.text, /75,000 units, 0\.04 at the price given\)/)
  })
})
