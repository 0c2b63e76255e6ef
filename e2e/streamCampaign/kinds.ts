import type { Ends, Kind } from './kind.ts'
import { binaryFrames, brokenFrames, brokenUtf8, endlessFragments, goodFragments } from './kinds/brokenKinds.ts'
import { oversized, tooManyFragments } from './kinds/brokenKinds.ts'
import { comeAndGo, crowd, hoard, pingFlood, subscribeFlood } from './kinds/floodKinds.ts'
import { badCredentials, badJson, badUpgrade, replay, unknownThings } from './kinds/lyingKinds.ts'
import { halfOpen, halfRequest, neverAsk, neverPong, neverRead, neverReadButTalk } from './kinds/silentKinds.ts'

const IDLE_MS = 46_500
/** Longest life of a connection without a request: it must come within 10 s, and the service checks every 30 s. */
const UNASKED_MS = 41_000
const UNREAD_MS = 80_000
/** Just below the shortest time limit of the service, within which a connection must send its request. */
const STARVED_MS = 9_000

/** All kinds of hostile clients, with the ends that docs/stream.md promises for each. */
export const KINDS: Readonly<Record<string, Kind>> = {
  neverPong: { live: neverPong, clients: 8, pauseMs: 100, ends: ['4408'], shownAfterMs: IDLE_MS },
  halfOpen: { live: halfOpen, clients: 8, pauseMs: 100, ends: ['4408'], shownAfterMs: IDLE_MS },
  neverRead: { live: neverRead, clients: 12, pauseMs: 100, ends: ['gone'], shownAfterMs: UNREAD_MS },
  neverReadButTalk: { live: neverReadButTalk, clients: 6, pauseMs: 100, ends: ['gone'], shownAfterMs: UNREAD_MS },
  endlessFragments: { live: endlessFragments, clients: 4, pauseMs: 100, ends: ['4408'], shownAfterMs: IDLE_MS },
  neverAsk: { live: neverAsk, clients: 8, pauseMs: 100, ends: ['1006'], shownAfterMs: UNASKED_MS },
  halfRequest: { live: halfRequest, clients: 8, pauseMs: 100, ends: ['HTTP 400'], shownAfterMs: UNASKED_MS },
  subscribeFlood: { ...often(subscribeFlood, ['RATE_LIMITED 4429']), clients: 4 },
  pingFlood: { ...often(pingFlood, ['RATE_LIMITED 4429']), clients: 2 },
  hoard: { ...often(hoard, ['RATE_LIMITED 1000']), clients: 3, shownAfterMs: 40_000 },
  comeAndGo: { ...often(comeAndGo, ['left']), clients: 4, pauseMs: 20 },
  crowd: { ...often(crowd, ['left']), pauseMs: 1_000 },
  oversized: often(oversized, ['1009']),
  binaryFrames: often(binaryFrames, ['VALIDATION_ERROR 1003']),
  tooManyFragments: often(tooManyFragments, ['1008']),
  brokenFrames: often(brokenFrames, ['1002']),
  brokenUtf8: often(brokenUtf8, ['1007']),
  goodFragments: often(goodFragments, ['1000']),
  badJson: often(badJson, ['VALIDATION_ERROR 1000']),
  unknownThings: often(unknownThings, ['VALIDATION_ERROR MARKET_NOT_FOUND UNAUTHENTICATED 1000']),
  badCredentials: often(badCredentials, [
    'INVALID_SIGNATURE TIMESTAMP_OUT_OF_WINDOW AGENT_UNKNOWN VALIDATION_ERROR API_KEY_UNKNOWN 1000',
  ]),
  replay: often(replay, ['NONCE_REUSED UNAUTHENTICATED 1000']),
  badUpgrade: often(badUpgrade, ['HTTP 401']),
}

/** Returns the kinds that reported no end although the campaign was long enough. */
export function missingKinds(ends: Ends, attackMs: number): string[] {
  const due = Object.keys(KINDS).filter((name) => attackMs >= KINDS[name]!.shownAfterMs)
  return due.filter((name) => Object.keys(ends[name] ?? {}).length === 0)
}

/** Returns a kind with two clients that reconnect a few times a second. */
function often(live: Kind['live'], ends: Kind['ends']): Kind {
  return { live, clients: 2, pauseMs: 300, ends, starvedAfterMs: STARVED_MS, shownAfterMs: 5_000 }
}
