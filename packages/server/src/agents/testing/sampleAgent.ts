import type { Address } from '@bezel/protocol'
import type { AgentRecord } from '../../trading/agentRecord.ts'

/** Returns an address of one repeated digit. */
export function addressOf(digit: string): Address {
  return `0x${digit.repeat(40)}` as Address
}

/** Returns the record of an agent without limits that never was in force. */
export function sampleAgent(changes: Partial<AgentRecord> = {}): AgentRecord {
  return {
    chain: 'base',
    agent: addressOf('a'),
    trader: addressOf('1'),
    name: '',
    scope: { markets: 'all', maxLeverage: null, dailySpendCapUsd: null, expiresAt: null, permissions: 'trade' },
    mode: 'self',
    agentSigned: false,
    revoked: false,
    standing: 'claimed',
    createdAtMs: 1_700_000_000_000,
    signedAtMs: 1_700_000_000_000,
    ...changes,
  }
}
