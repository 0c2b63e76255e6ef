import { accessSync, constants, existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { StartupError, type Address } from '@bezel/protocol'
import { inspectPrivateFolder, isServiceRunning } from '@bezel/protocol/dataFolder'
import { wrongClockText } from '../store/databaseClock.ts'
import { MIGRATIONS } from '../store/migrations/index.ts'
import type { LiveNode } from '../store/nodeStore.ts'
import type { StoreLook } from '../store/openConfiguredStore.ts'
import { counted, failure, lengthOf, note, ok, warning, type Finding } from './finding.ts'
import type { ClockReading } from './probe.ts'

/** Checks the data folder without changing anything in it. `beside`: files of the operator that may lie in it. */
export function checkDataFolder(folder: string, beside: readonly string[]): readonly Finding[] {
  const name = 'data folder'
  try {
    const state = inspectPrivateFolder(folder, beside)
    if (state === 'missing') return [judgeMissing(folder)]
    const open = state === 'open' ? ' It is open to other users now: the start closes it to them.' : ''
    return [judgeWritable(folder, open), judgeService(folder)]
  } catch (error) {
    if (!(error instanceof StartupError)) throw error
    return [failure(name, error.message)]
  }
}

/**
 * Judges the store that the settings name, and the services that run on it; `undefined` for SQLite without a service.
 * Of the rest of SQLite the data folder speaks.
 */
export function judgeStore(look: StoreLook | undefined): readonly Finding[] {
  if (look === undefined) return []
  if (look.engine === 'sqlite') return judgeNodes(look)
  return [judgeDatabase(look), judgeDatabaseClock(look), ...judgeNodes(look)]
}

function judgeDatabaseClock({ clockAheadMs }: StoreLook): Finding {
  const name = 'database clock'
  const wrong = wrongClockText(clockAheadMs)
  return wrong === undefined ? ok(name, "This machine's clock agrees with that of PostgreSQL.") : failure(name, wrong)
}

function judgeDatabase({ version, isUsable }: StoreLook): Finding {
  const name = 'database'
  const newest = MIGRATIONS.length
  if (!isUsable) return failure(name, `It was last used by a newer Bezel (schema ${version}): start that version.`)
  if (version === 0) return ok(name, 'PostgreSQL can be used, and has no data yet: the first start makes its tables.')
  if (version > newest) {
    return ok(
      name,
      `PostgreSQL can be used, and has data of a newer Bezel (schema ${version}), which has only added to what this one uses.`,
    )
  }
  const change = version === newest ? '' : ` The start brings its schema from ${version} to ${newest}.`
  return ok(name, `PostgreSQL can be used, and has data.${change}`)
}

/** Tells which services run on the store. Services of several versions are for the time of an update. */
function judgeNodes({ engine, nodes }: StoreLook): readonly Finding[] {
  const name = 'nodes'
  // The data folder has told of a service that enters itself nowhere.
  if (nodes.length === 0) return engine === 'sqlite' ? [] : [ok(name, 'No service runs on the database.')]
  const list = nodes.map(nodeText).join('; ')
  const kinds = new Set(nodes.map(({ version, schema }) => `${version} ${schema}`))
  if (kinds.size === 1) return [ok(name, `${counted(nodes.length, 'service')} on the data: ${list}.`)]
  return [warning(name, `Services of several versions run on the data: ${list}. Bring all of them to one version.`)]
}

function nodeText({ id, version, schema, silentMs }: LiveNode): string {
  return `${id}, version ${version} with schema ${schema}, last sign of life ${lengthOf(silentMs)} ago`
}

function judgeMissing(folder: string): Finding {
  const above = existingAbove(folder)
  if (mayWrite(above)) return ok('data folder', `${folder} is not there yet: the first start makes it.`)
  return failure(
    'data folder',
    `${folder} is not there, and this user may not make it in ${above}: make it and give it to the service's user, or set BEZEL_DATA to another folder.`,
  )
}

function existingAbove(path: string): string {
  const above = dirname(path)
  return existsSync(above) || above === path ? above : existingAbove(above)
}

function judgeWritable(folder: string, open: string): Finding {
  if (mayWrite(folder)) return ok('data folder', `${folder} can be used.${open}`)
  return failure(
    'data folder',
    `This user may not write to ${folder}: run the check as the service's user, give that user the folder, or set BEZEL_DATA to another one.`,
  )
}

function mayWrite(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK | constants.X_OK)
    return true
  } catch {
    return false
  }
}

function judgeService(folder: string): Finding {
  return isServiceRunning(folder)
    ? note('service', 'A service runs on this data folder now: a second one would be refused.')
    : ok('service', 'No service runs on this data folder.')
}

/** Difference of two clocks that is worth a warning, and one with which signed requests and block times go wrong. */
const CLOCK_WARNING_MS = 2_000
const CLOCK_FAILURE_MS = 30_000

/** Judges this machine's clock by the median of the servers' clocks, because one of them may be wrong. */
export function judgeClock(readings: readonly ClockReading[]): Finding {
  const name = 'clock'
  if (readings.length === 0) {
    return note(name, "No server told its time, so only the newest blocks speak for this machine's clock.")
  }
  const ahead = readings.map(({ aheadMs }) => aheadMs).toSorted((a, b) => a - b)
  const medianMs = ahead[Math.floor((ahead.length - 1) / 2)]!
  const offMs = Math.abs(medianMs)
  const servers = readings.length === 1 ? 'one server' : `${readings.length} servers`
  if (offMs <= CLOCK_WARNING_MS) return ok(name, `This machine's clock agrees with that of ${servers}.`)
  const judged = offMs > CLOCK_FAILURE_MS ? failure : warning
  return judged(
    name,
    `This machine's clock is ${lengthOf(offMs)} ${medianMs > 0 ? 'ahead of' : 'behind'} that of ${servers}: set it, for instance by NTP.`,
  )
}

/** Returns the finding of a step that throws a `StartupError` when it must be mended. */
export function startFinding(name: string, step: () => void, good: string): Finding {
  try {
    step()
    return ok(name, good)
  } catch (error) {
    if (error instanceof StartupError) return failure(name, error.message)
    throw error
  }
}

/** Tells which key the relayer has. */
export function judgeRelayerKey(relayer: Address | undefined): Finding {
  return relayer === undefined
    ? note('relayer', 'It has no key, so the facade only reads.')
    : ok('relayer', `Its key is readable; it sends as ${relayer}.`)
}
