import { CLOSE_CODES } from '@bezel/protocol'
import type { StreamBounds } from '../bounds.ts'
import type { Session } from '../session/session.ts'
import type { SocketConnection } from './socketConnection.ts'
import type { Dialect } from './socketKind.ts'

/** What is remembered of a socket to know whether it lives. Times are of `performance.now()`, which no change of the clock moves. */
export interface Pulse {
  readonly connection: Pick<SocketConnection, 'offer' | 'close' | 'terminate' | 'bytesLeft' | 'isOpen'>
  readonly session: Pick<Session, 'checkCaller'>
  heardAtMs: number
  pingAtMs: number
  /** Bytes that had left at the last look, and since when none has; `undefined` while none wait. */
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
}

/** One timer for all sockets: pings, tells credentials that ended, and ends those that are silent or take nothing. */
export function startHeartbeat(pulses: Iterable<Pulse>, { bounds, now, dialect }: HeartbeatOptions): { close(): void } {
  function sweep(): void {
    const nowMs = performance.now()
    let ping: Buffer | undefined
    for (const pulse of pulses) {
      pulse.session.checkCaller()
      if (isStuck(pulse, nowMs, bounds)) pulse.connection.terminate()
      else if (!pulse.connection.isOpen) continue
      else if (nowMs - pulse.heardAtMs >= bounds.idleMs) pulse.connection.close(CLOSE_CODES.idle, 'idle')
      else if (nowMs >= pulse.pingAtMs) {
        ping ??= dialect.pingFrame(now())
        pulse.pingAtMs = nowMs + bounds.heartbeatMs
        // A reader that is far behind hears of itself that it is alive; another ping would only wait with the rest.
        pulse.connection.offer(ping)
      }
    }
  }
  const timer = setInterval(sweep, bounds.sweepMs)
  timer.unref()
  return { close: () => clearInterval(timer) }
}

function isStuck(pulse: Pulse, nowMs: number, { stuckMs }: StreamBounds): boolean {
  const bytesLeft = pulse.connection.bytesLeft()
  if (bytesLeft === undefined) pulse.stuck = undefined
  else if (pulse.stuck?.bytesLeft !== bytesLeft) pulse.stuck = { bytesLeft, sinceMs: nowMs }
  return pulse.stuck !== undefined && nowMs - pulse.stuck.sinceMs >= stuckMs
}
