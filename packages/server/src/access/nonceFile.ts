import { StoreUnavailableError } from '../ground/unavailable.ts'
import { closeSync, openSync, readFileSync, renameSync, writeFileSync, writeSync } from 'node:fs'
import { StartupError } from '@bezel/protocol'
import { PRIVATE_FILE_MODE } from '@bezel/protocol/dataFolder'
import type { NonceClaim } from './nonceMemory.ts'

/** The content of a nonce file. */
export interface NonceRecords {
  readonly claims: readonly NonceClaim[]
  /** Timestamp up to which claims were forgotten; -Infinity when the file names none. */
  readonly forgottenUpToMs: number
}

/**
 * The file of claims, in the two halves of the memory: `<path>.old` and `<path>`. Lines are written without fsync:
 * killing the process loses nothing that the operating system has. A power loss may lose lines; then at most a read can
 * be repeated.
 */
export interface NonceFile {
  /**
   * Appends a line and returns once the operating system has it. Throws a `StoreUnavailableError` when that is
   * uncertain.
   */
  append(claim: NonceClaim): void
  /**
   * Makes the younger half the older one and drops the former older half. Throws a `StoreUnavailableError`; safe to
   * retry.
   */
  rotate(forgottenUpToMs: number): void
  close(): void
}

/** Ends the rest of a failed write so that it never parses as a line. */
const END_OF_TORN_LINE = '!\n'

const CLAIM_LINE = /^(\d{1,16}) ([a-z0-9-]+ 0x[0-9a-fA-F]{40} (?:0|[1-9]\d{0,77}))$/

const FORGOTTEN_LINE = /^forgotten (\d{1,16})$/

/** Reads the claims of both halves. Throws a `StartupError` when they can't be read. */
export function readNonceFile(path: string): NonceRecords {
  const halves = [oldPath(path), path].map((half) => parseNonceLines(atStart(path, () => readIfThere(half))))
  return {
    claims: halves.flatMap(({ claims }) => claims),
    forgottenUpToMs: Math.max(...halves.map(({ forgottenUpToMs }) => forgottenUpToMs)),
  }
}

/**
 * Writes `records` as the older half and starts an empty younger one. A kill at any point leaves all records readable.
 */
export function startNonceFile(path: string, { claims, forgottenUpToMs }: NonceRecords): NonceFile {
  return atStart(path, () => {
    const lines = forgottenLine(forgottenUpToMs) + claims.map(claimLine).join('')
    writeFileSync(draftPath(path), lines, { mode: PRIVATE_FILE_MODE })
    renameSync(draftPath(path), oldPath(path))
    return appendTo(path, openSync(path, 'w', PRIVATE_FILE_MODE))
  })
}

function appendTo(path: string, opened: number): NonceFile {
  let file = opened
  let isTorn = false

  function write(text: string): void {
    const whole = isTorn ? END_OF_TORN_LINE + text : text
    isTorn = true
    // The text is ASCII, so its length is its number of bytes.
    if (writeSync(file, whole) !== whole.length) throw new Error('the disk took only part of a line')
    isTorn = false
  }

  return {
    append: (claim) => whileRunning(path, () => write(claimLine(claim))),
    rotate(forgottenUpToMs) {
      whileRunning(path, () => {
        const next = startHalf(path, forgottenUpToMs)
        closeSync(file)
        file = next
        isTorn = false
      })
    },
    close: () => closeSync(file),
  }
}

/**
 * Opens the next younger half. The current one is renamed to the old name first, so both exist whenever the process
 * dies.
 */
function startHalf(path: string, forgottenUpToMs: number): number {
  const next = openSync(draftPath(path), 'w', PRIVATE_FILE_MODE)
  try {
    writeSync(next, forgottenLine(forgottenUpToMs))
    renameIfThere(path, oldPath(path))
    renameSync(draftPath(path), path)
    return next
  } catch (error) {
    closeSync(next)
    throw error
  }
}

export function claimLine({ key, timestampMs }: NonceClaim): string {
  return `${timestampMs} ${key}\n`
}

/** Returns the line that says up to when claims were forgotten; nothing when none ever was. */
function forgottenLine(forgottenUpToMs: number): string {
  return forgottenUpToMs === -Infinity ? '' : `forgotten ${forgottenUpToMs}\n`
}

/**
 * Parses every complete line that it understands. Text after the last line feed is a line that a killed process did not
 * finish; its request was never accepted. Other damage, as after a power loss, costs only its own lines.
 */
export function parseNonceLines(text: string): NonceRecords {
  const claims: NonceClaim[] = []
  let forgottenUpToMs = -Infinity
  for (const line of text.split('\n').slice(0, -1)) {
    const [, timestamp, key] = CLAIM_LINE.exec(line) ?? []
    if (key !== undefined) claims.push({ key, timestampMs: Number(timestamp) })
    const [, forgotten] = FORGOTTEN_LINE.exec(line) ?? []
    if (forgotten !== undefined) forgottenUpToMs = Math.max(forgottenUpToMs, Number(forgotten))
  }
  return { claims, forgottenUpToMs }
}

const oldPath = (path: string): string => `${path}.old`

const draftPath = (path: string): string => `${path}.draft`

function readIfThere(path: string): string {
  return ifThere(() => readFileSync(path, 'latin1')) ?? ''
}

/** Renames a file. It is missing when an earlier rotation was interrupted after it had renamed it. */
function renameIfThere(from: string, to: string): void {
  ifThere(() => renameSync(from, to))
}

function ifThere<Result>(step: () => Result): Result | undefined {
  try {
    return step()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

function whileRunning(path: string, step: () => void): void {
  try {
    step()
  } catch (error) {
    throw new StoreUnavailableError(`used nonces can't be written to ${path}: ${(error as Error).message}`, {
      cause: error,
    })
  }
}

function atStart<Result>(path: string, step: () => Result): Result {
  try {
    return step()
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new StartupError(
      `The file of used nonces ${path} can't be used (${code}): make it writable or set BEZEL_DATA to another folder.`,
    )
  }
}
