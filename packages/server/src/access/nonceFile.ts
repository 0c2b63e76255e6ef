import { StoreUnavailableError } from '../ground/unavailable.ts'
import { closeSync, openSync, readFileSync, renameSync, writeFileSync, writeSync } from 'node:fs'
import { StartupError } from '@bezel/protocol'
import type { NonceClaim } from './nonceClaim.ts'
import { claimLine, forgottenLine, parseNonceLines, type NonceRecords } from './nonceLines.ts'

/**
 * Claims on disk, in the two halves of the memory: `<path>.old` and `<path>`. Written without fsync: once the system has a line, killing
 * the process loses nothing; losing power may, which for a read is no more than a repeated read.
 */
export interface NonceFile {
  /** The line is with the system when it returns. Throws a `StoreUnavailableError` when it may not be. */
  append(claim: NonceClaim): void
  /** The younger half becomes the older one, which is dropped. Throws a `StoreUnavailableError`; safe to try again. */
  rotate(forgottenUpToMs: number): void
  close(): void
}

/** Marks what a failed write left of a line as no line, also when it happens to look like one. */
const END_OF_TORN_LINE = '!\n'

/** What both halves hold. Throws a `StartupError` when they can't be read. */
export function readNonceFile(path: string): NonceRecords {
  const halves = [oldPath(path), path].map((half) => parseNonceLines(atStart(path, () => readIfThere(half))))
  return {
    claims: halves.flatMap(({ claims }) => claims),
    forgottenUpToMs: Math.max(...halves.map(({ forgottenUpToMs }) => forgottenUpToMs)),
  }
}

/** Writes `records` as the older half and starts an empty younger one. A kill at any point leaves all of them readable. */
export function startNonceFile(path: string, { claims, forgottenUpToMs }: NonceRecords): NonceFile {
  return atStart(path, () => {
    writeFileSync(draftPath(path), forgottenLine(forgottenUpToMs) + claims.map(claimLine).join(''))
    renameSync(draftPath(path), oldPath(path))
    return appendTo(path, openSync(path, 'w'))
  })
}

function appendTo(path: string, opened: number): NonceFile {
  let file = opened
  let isTorn = false

  function write(text: string): void {
    const whole = isTorn ? END_OF_TORN_LINE + text : text
    isTorn = true
    // All of it is ASCII, so characters are bytes.
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

/** Opens the next younger half; the current one gets the old name first, so both are there whenever the process dies. */
function startHalf(path: string, forgottenUpToMs: number): number {
  const next = openSync(draftPath(path), 'w')
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

const oldPath = (path: string): string => `${path}.old`
const draftPath = (path: string): string => `${path}.draft`

function readIfThere(path: string): string {
  return ifThere(() => readFileSync(path, 'latin1')) ?? ''
}

/** It is missing when an earlier rotation got no further than giving it the old name. */
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
