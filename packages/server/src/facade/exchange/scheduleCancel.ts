import { clearSchedule, saveSchedule } from '../../store/facadeScheduleStore.ts'
import type { ExchangeAction } from '../signing/envelope.ts'
import { OK_DEFAULT, type ExchangeAnswer } from './exchangeAnswer.ts'
import { ExchangeErr } from './exchangeErr.ts'
import type { RunAction } from './exchangeParts.ts'
import { integerAt, isAbsent } from './fields.ts'

/** Nearer than this a client could not be sure that it is still able to call it off. */
const MIN_AHEAD_MS = 5_000

/** Says when all resting orders of the trader are to be cancelled, in place of what was said before; without a time, never. */
export function scheduleCancel(action: ExchangeAction): RunAction<ExchangeAnswer> {
  const dueAtMs = isAbsent(action.time) ? null : integerAt(action.time, 'action.time')
  return async ({ parts, agent }) => {
    const { chain, trader } = agent
    if (dueAtMs !== null && dueAtMs < parts.now() + MIN_AHEAD_MS) {
      throw new ExchangeErr(`Scheduled cancel time must be at least ${MIN_AHEAD_MS / 1000} seconds from now.`)
    }
    await parts.store.transaction((sql) =>
      dueAtMs === null
        ? clearSchedule(sql, chain, trader)
        : saveSchedule(sql, { chain, trader, agent: agent.agent, dueAtMs }),
    )
    return OK_DEFAULT
  }
}
