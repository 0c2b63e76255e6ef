import { ApiError, type Address, type ChainSlug } from '@bezel/protocol'
import { every } from '../ground/every.ts'
import { loadControls, type SetControl, type ControlName } from '../store/controlStore.ts'
import type { Store } from '../store/sql.ts'

/** A pause that the operator has set. */
export interface Pause {
  /** The operator's words, which callers may read. Empty when none were given. */
  readonly reason: string
}

/** Budgets of the relayer, in wei, that the operator has set in place of the configured ones. */
export interface BudgetOverrides {
  readonly traderDayWei?: bigint
  readonly deploymentDayWei?: bigint
}

/** The operator's controls, read from the store into memory: another process sets them while this one runs. */
export interface Controls {
  /** Returns the pause of all writes on a chain; `undefined` while they are allowed. */
  writesPaused(chain: ChainSlug): Pause | undefined
  /** Returns the pause of a chain's relayer, which then accepts no new action. */
  relayerPaused(chain: ChainSlug): Pause | undefined
  /** Returns the pause of this trader or of this agent. */
  isPaused(chain: ChainSlug, trader: Address, agent: Address): Pause | undefined
  budgets(chain: ChainSlug): BudgetOverrides
  close(): Promise<void>
}

/** Pause between two reads of the controls, so that a change holds within a second. */
const REFRESH_MS = 400

/** Reads the controls, and again every `REFRESH_MS`. While the store can't be read, the last ones hold. */
export async function openControls(
  store: Pick<Store, 'read'>,
  onError: (error: unknown) => void,
  refreshMs = REFRESH_MS,
): Promise<Controls> {
  let values = valuesOf(await loadControls(store.read))
  const rounds = every(refreshMs, async () => void (values = valuesOf(await loadControls(store.read))), { onError })
  const pauseOf = (chain: ChainSlug, control: ControlName, subject: Address | null): Pause | undefined => {
    const reason = values.get(keyOf({ chain, control, subject }))
    return reason === undefined ? undefined : { reason }
  }
  const weiOf = (chain: ChainSlug, control: ControlName): bigint | undefined => {
    const wei = values.get(keyOf({ chain, control, subject: null }))
    return wei === undefined ? undefined : BigInt(wei)
  }
  return {
    writesPaused: (chain) => pauseOf(chain, 'writes', null),
    relayerPaused: (chain) => pauseOf(chain, 'relayer', null),
    isPaused: (chain, trader, agent) => pauseOf(chain, 'trader', trader) ?? pauseOf(chain, 'agent', agent),
    budgets(chain) {
      const traderDayWei = weiOf(chain, 'trader_day_wei')
      const deploymentDayWei = weiOf(chain, 'deployment_day_wei')
      return {
        ...(traderDayWei !== undefined && { traderDayWei }),
        ...(deploymentDayWei !== undefined && { deploymentDayWei }),
      }
    },
    close: rounds.close,
  }
}

/** Throws `NOT_READY` while the operator has paused the chain's writes, the trader or the agent. */
export function requireUnpaused(
  controls: Pick<Controls, 'writesPaused' | 'isPaused'>,
  of: { readonly chain: ChainSlug; readonly trader: Address; readonly agent: Address },
): void {
  const { chain, trader, agent } = of
  const all = controls.writesPaused(chain)
  if (all !== undefined) throw paused(`The operator has paused writes on ${chain}`, all)
  const one = controls.isPaused(chain, trader, agent)
  if (one !== undefined) throw paused(`The operator has paused the writes of this account or agent on ${chain}`, one)
}

function paused(sentence: string, { reason }: Pause): ApiError {
  return new ApiError('NOT_READY', reason === '' ? `${sentence}.` : `${sentence}: ${reason}`, { reason: 'paused' })
}

function valuesOf(controls: readonly SetControl[]): ReadonlyMap<string, string> {
  return new Map(controls.map((control) => [keyOf(control), control.value]))
}

function keyOf({ chain, control, subject }: Pick<SetControl, 'chain' | 'control' | 'subject'>): string {
  return `${chain} ${control} ${subject ?? ''}`
}
