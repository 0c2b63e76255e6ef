import { setTimeout as sleep } from 'node:timers/promises'
import { CLOSE_CODES } from '@bezel/protocol'
import { every } from '../../ground/every.ts'
import type { StreamBounds } from '../bounds.ts'
import type { SocketConnection } from './socketConnection.ts'
import type { Dialect, Session } from './socketKind.ts'

/** The state by which the heartbeat decides if a socket is alive. Times are of a clock that never goes back. */
export interface Pulse {
  readonly connection: Pick<SocketConnection, 'offer' | 'close' | 'terminate' | 'bytesLeft' | 'isOpen'>
  readonly session: Pick<Session, 'checkCaller'>
  heardAtMs: number
  pingAtMs: number
  /**
   * The number of bytes that had been sent at the last check, and the time since which it has not grown; `undefined`
   * while no bytes wait.
   */
  stuck: { readonly bytesLeft: number; readonly sinceMs: number } | undefined
}

export function createPulse(
  of: Pick<Pulse, 'connection' | 'session'>,
  nowMs: number,
  { heartbeatMs }: StreamBounds,
): Pulse {
  return { ...of, heardAtMs: nowMs, pingAtMs: nowMs + heartbeatMs, stuck: undefined }
}

export interface HeartbeatOptions {
  readonly bounds: StreamBounds
  readonly dialect: Pick<Dialect, 'pingFrame'>
  readonly now: () => number
  /** A clock in milliseconds that never goes back. */
  readonly clock: () => number
}

/**
 * Runs one timer for all sockets. It pings, reports credentials that became invalid, and ends sockets that are silent
 * or take no bytes.
 */
export function startHeartbeat(
  pulses: Iterable<Pulse>,
  { bounds, now, clock, dialect }: HeartbeatOptions,
): { close(): void } {
  function sweep(): void {
    const nowMs = clock()
    let ping: Buffer | undefined
    for (const pulse of pulses) {
      pulse.session.checkCaller()
      if (isStuck(pulse, nowMs, bounds)) pulse.connection.terminate()
      else if (!pulse.connection.isOpen) continue
      else if (nowMs - pulse.heardAtMs >= bounds.idleMs) pulse.connection.close(CLOSE_CODES.idle, 'idle')
      else if (nowMs >= pulse.pingAtMs) {
        ping ??= dialect.pingFrame(now())
        pulse.pingAtMs = nowMs + bounds.heartbeatMs
        // `offer` writes nothing to a client that is far behind: it shows that it is alive by reading, and a ping would
        // only queue.
        pulse.connection.offer(ping)
      }
    }
  }
  const sweeps = every(bounds.sweepMs, sweep)
  return { close: () => void sweeps.close() }
}

function isStuck(pulse: Pulse, nowMs: number, { stuckMs }: StreamBounds): boolean {
  const bytesLeft = pulse.connection.bytesLeft()
  if (bytesLeft === undefined) pulse.stuck = undefined
  else if (pulse.stuck?.bytesLeft !== bytesLeft) pulse.stuck = { bytesLeft, sinceMs: nowMs }
  return pulse.stuck !== undefined && nowMs - pulse.stuck.sinceMs >= stuckMs
}

/** The longest wait for clients to close their side. Well-behaved ones answer within a round trip. */
const GOODBYE_MS = 1_000

const POLL_MS = 10

/** Pause between two steps of closes that are spread over a time. */
const STEP_MS = 50

/**
 * Closes all sockets with 1012, one after the other and evenly over `spreadMs`, and terminates those that are still
 * open a second after the last one was closed. Each socket is removed from `pulses` when it is gone.
 */
export async function closeSockets(
  pulses: ReadonlySet<Pulse>,
  spreadMs: number,
  pause: (ms: number) => Promise<void> = sleep,
): Promise<void> {
  const all = [...pulses]
  const perStep = all.length / Math.max(1, spreadMs / STEP_MS)
  for (let closed = 0, due = perStep; closed < all.length && pulses.size > 0; due += perStep) {
    for (; closed < due && closed < all.length; closed++) {
      all[closed]!.connection.close(CLOSE_CODES.shutdown, 'shutdown')
    }
    if (closed < all.length) await pause(STEP_MS)
  }
  await emptied(pulses, GOODBYE_MS)
  for (const { connection } of pulses) connection.terminate()
  await emptied(pulses, GOODBYE_MS)
}

async function emptied(pulses: ReadonlySet<Pulse>, withinMs: number): Promise<void> {
  for (let waitedMs = 0; pulses.size > 0 && waitedMs < withinMs; waitedMs += POLL_MS) await sleep(POLL_MS)
}
