import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { FRESH_SANDBOX, memoryOfChain, noteChange, readSandboxMemory, type SandboxChange } from './sandboxMemory.ts'

const after = (changes: readonly SandboxChange[]) => changes.reduce(noteChange, FRESH_SANDBOX)

describe('noteChange', () => {
  it('remembers pauses by chain, and forgets them', () => {
    const paused: SandboxChange = { control: 'oracle', chain: 'base', isPaused: true }
    assert.deepEqual(after([paused, paused]).oraclePaused, ['base'])
    assert.deepEqual(after([paused, { ...paused, isPaused: false }]).oraclePaused, [])
    assert.deepEqual(after([{ control: 'keeper', chain: 'base', isPaused: true }]).keeperPaused, ['base'])
  })

  it('remembers delays, frozen prices and hours', () => {
    const memory = after([
      { control: 'delay', chain: 'base', delayMs: 5_000 },
      { control: 'freeze', market: 'BTC/USD', isFrozen: true },
      { control: 'hours', market: 'EUR/USD', isOpen: false },
      { control: 'hours', market: 'BTC/USD', isOpen: false },
      { control: 'hours', market: 'BTC/USD', isOpen: null },
    ])
    assert.deepEqual(memory.oracleDelayMs, { base: 5_000 })
    assert.deepEqual(memory.frozen, ['BTC/USD'])
    assert.deepEqual(memory.hours, { 'EUR/USD': false })
  })
})

describe('memoryOfChain', () => {
  it('keeps what belongs to this start of the chain, and nothing else', () => {
    const memory = { ...after([{ control: 'keeper', chain: 'base', isPaused: true }]), genesis: '0x1' }
    assert.equal(memoryOfChain(memory, '0x1'), memory)
    assert.deepEqual(memoryOfChain(memory, '0x2'), { ...FRESH_SANDBOX, genesis: '0x2' })
  })
})

it('reads what it wrote, and takes anything else as fresh', () => {
  const memory = { ...FRESH_SANDBOX, genesis: '0x1', frozen: ['BTC/USD'] }
  assert.deepEqual(readSandboxMemory(structuredClone(memory)), memory)
  for (const stored of [null, undefined, 3, {}, { genesis: null }])
    assert.equal(readSandboxMemory(stored), FRESH_SANDBOX)
})
