import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { testChain } from '@bezel/testkit/servedChain.ts'
import type { ChainAgents } from '../agents/chainAgents.ts'
import { addressOf, sampleAgent } from '../agents/testing/sampleAgent.ts'
import { testRegistry } from '../agents/testing/testRegistry.ts'
import type { AgentRecord } from '../trading/agentRecord.ts'
import { requireUsable } from './caller.ts'

describe('an accepted request', () => {
  /** Returns the proofs that a request of this agent is noted as. */
  async function proofsOf(changes: Partial<AgentRecord>): Promise<string[]> {
    const proofs: string[] = []
    const registry = testRegistry({ noteStanding: async (_record, proof) => void proofs.push(proof) })
    const delegates = { isDelegate: async () => true } as Partial<ChainAgents['delegates']>
    const agents = { chain: testChain('base'), registry, relayer: null, delegates } as ChainAgents
    const agent = sampleAgent(changes)
    await requireUsable({ via: 'agent', trader: agent.trader, agent }, agents, 0)
    return proofs
  }

  it('proves an agent only where the chain was asked', async () => {
    const reading = { ...sampleAgent().scope, permissions: 'read' } as const
    assert.deepEqual(await proofsOf({}), ['used'])
    assert.deepEqual(await proofsOf({ scope: reading }), ['seen'])
    assert.deepEqual(await proofsOf({ agent: addressOf('1') }), ['seen'], 'a trader who is its own agent')
    assert.deepEqual(await proofsOf({ standing: 'used' }), [])
  })
})
