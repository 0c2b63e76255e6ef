import { integerSetting, type Setting, type SettingsOf } from '@bezel/protocol'
import type { DataPlace } from './dataPlace.ts'

/** The times that a stop takes so that clients of one of several nodes move to the others unhurt. */
export interface StopTimes {
  /** Time for which `/ready` answers 503 and everything else goes on, until the front sends no more requests here. */
  readonly stopNoticeMs: number
  /** Time over which the closes of the sockets are spread, so that their clients do not all connect again at once. */
  readonly stopSpreadMs: number
}

/** A machine that is alone has no other to send its clients to. */
const ALONE: StopTimes = { stopNoticeMs: 0, stopSpreadMs: 0 }
const AMONG_NODES: StopTimes = { stopNoticeMs: 5_000, stopSpreadMs: 10_000 }

/** The settings of a stop. */
export const STOP_SETTINGS = {
  BEZEL_STOP_NOTICE_MS: stopSetting(
    'milliseconds for which /ready answers 503 after a SIGTERM while everything else goes on, so that a front sends requests elsewhere',
    'stopNoticeMs',
  ),
  BEZEL_STOP_SPREAD_MS: stopSetting(
    'milliseconds over which WebSockets are closed one after the other at a stop',
    'stopSpreadMs',
  ),
} as const

/** Returns the times of a stop: those that are set, or what fits the place of the data. */
export function stopTimesOf(
  settings: SettingsOf<typeof STOP_SETTINGS>,
  { database }: Pick<DataPlace, 'database'>,
): StopTimes {
  const usual = database === undefined ? ALONE : AMONG_NODES
  return {
    stopNoticeMs: settings.BEZEL_STOP_NOTICE_MS ?? usual.stopNoticeMs,
    stopSpreadMs: settings.BEZEL_STOP_SPREAD_MS ?? usual.stopSpreadMs,
  }
}

function stopSetting(what: string, name: keyof StopTimes): Setting<number | undefined> {
  return {
    ...integerSetting({ what, default: AMONG_NODES[name], min: 0, max: 600_000 }),
    defaultText: `${AMONG_NODES[name]} with DATABASE_URL, else ${ALONE[name]}`,
    defaultValue: undefined,
  }
}
