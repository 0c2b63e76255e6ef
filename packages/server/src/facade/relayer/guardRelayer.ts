import type { ChainSlug } from '@bezel/protocol'
import type { Controls } from '../../access/controls.ts'
import type { RefusalAudit } from '../../access/auditLog.ts'
import { RelayRefusedError, type RelayRefusal } from './gasBudget.ts'
import type { Relayer } from './startRelayer.ts'

/** Refusals that the trader finds in the audit log: there is no gas for it. */
const AUDITED: ReadonlySet<RelayRefusal> = new Set([
  'trader_budget',
  'trader_share',
  'deployment_budget',
  'low_balance',
])

/**
 * Returns the relayer of a chain behind the operator's controls: while it, or all writes of the chain, are paused, it
 * takes no new action. What it has taken before is brought to its end. Refusals for lack of gas go to the audit log.
 */
export function guardRelayer(
  relayer: Relayer,
  of: {
    readonly chain: ChainSlug
    readonly controls: Pick<Controls, 'relayerPaused' | 'writesPaused'>
    readonly refusals: RefusalAudit
  },
): Relayer {
  const { chain, controls, refusals } = of
  return {
    ...relayer,
    async enqueue(sql, action) {
      const pause = controls.relayerPaused(chain) ?? controls.writesPaused(chain)
      if (pause !== undefined) throw new RelayRefusedError('paused', pauseSentence(chain, pause.reason))
      try {
        return await relayer.enqueue(sql, action)
      } catch (error) {
        if (error instanceof RelayRefusedError && AUDITED.has(error.reason)) {
          const { trader, agent, origin } = action
          refusals.note({ chain, trader, agent, origin, reason: error.reason })
        }
        throw error
      }
    },
  }
}

/** Returns what callers and `/ready` are told of a paused relayer. */
export function pauseSentence(chain: ChainSlug, reason: string): string {
  const sentence = `The operator has paused the relayer on ${chain}`
  return reason === '' ? `${sentence}.` : `${sentence}: ${reason}`
}
