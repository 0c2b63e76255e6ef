import { clearSchedule, saveSchedule } from '../../store/facadeChoreStore.ts'
import type { ExchangeAction } from '../signing/envelope.ts'
import { ExchangeErr } from './errStrings.ts'
import { OK_DEFAULT, type ExchangeAnswer } from './exchangeAnswer.ts'
import type { RunAction } from './exchangeParts.ts'
import { integerAt } from './fields.ts'
import { isAbsent } from '../signing/envelope.ts'

/** The shortest time ahead. With less, a client could not be sure to call the cancel off in time. */
const MIN_AHEAD_MS = 5_000

/**
 * Schedules the cancel of all resting orders of the trader, in place of an earlier schedule. Without a time it removes
 * the schedule.
 */
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
