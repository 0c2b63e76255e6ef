import { ApiError } from '@bezel/protocol'
import { agentNotDelegated, needsDelegation, outOfForce } from '../../agents/agentRefusals.ts'
import type { ChainAgents } from '../../agents/chainAgents.ts'
import { requiredDelegate } from '../../agents/requiredDelegate.ts'
import { apiKeyUnknown } from '../../access/authenticateCall.ts'
import type { Caller } from '../../access/caller.ts'

/**
 * Why a caller that proved itself before may no longer listen; `undefined` while it may. Asked before everything that is sent to it, so it
 * looks at nothing but memory: of the delegate at the last look, which is kept fresh for traders who listen.
 */
export function lapseOf(
  caller: Caller,
  { chain, relayer, registry, delegates }: Pick<ChainAgents, 'chain' | 'relayer' | 'registry' | 'delegates'>,
  nowMs: number,
): ApiError | undefined {
  if (caller.via === 'apiKey') {
    return registry.keyOwner(chain.slug, caller.keyHash) === caller.trader ? undefined : apiKeyUnknown()
  }
  const record = registry.agent(chain.slug, caller.agent.agent)
  if (record?.trader !== caller.trader) return new ApiError('AGENT_REVOKED', 'This agent now serves another trader.')
  const refusal = outOfForce(record, nowMs)
  if (refusal !== undefined || !needsDelegation(record)) return refusal
  const delegate = delegates.known(record.trader)
  const required = requiredDelegate({ relayer }, record)
  return delegate === undefined || delegate === required ? undefined : agentNotDelegated(chain, required)
}
