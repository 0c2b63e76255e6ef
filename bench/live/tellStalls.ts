import { createHook, executionAsyncResource, type HookCallbacks } from 'node:async_hooks'
import { readFileSync, writeFileSync } from 'node:fs'
import { PerformanceObserver } from 'node:perf_hooks'
import process from 'node:process'

// Loaded into a service before its own code: writes down the longest pieces of work of its main thread, at its end.
//
// A piece is what runs from the call of a timer or an immediate to the next one: long work of the service is divided by
// immediates, and a timer that is due every few milliseconds divides the rest. It is measured in processor time of the
// thread, so that time in which the machine ran something else is not in it, unlike in the delay of the event loop.
// Told apart are pieces in which the engine collected garbage for some milliseconds, because how long that takes
// depends on how busy the other processors are, whose threads do most of it; and those in which the host of a virtual
// machine took a processor away, which counts as processor time of whoever was running.

/** Resources whose calls begin a piece. They are never called within another call. */
const BEGINNINGS: ReadonlySet<string> = new Set(['Timeout', 'Immediate'])

const TICK_MS = 2
const SECOND_MS = 1_000
/** Seconds that are remembered: a few hours. */
const MAX_SECONDS = 20_000

/** Pause between two looks for processor time that the host took. */
const STOLEN_LOOK_MS = 100

/** Shorter pieces, and collections of garbage, are not looked at. */
const MIN_MS = 3
/** Time after which the observer has heard of every collection. */
const HEARD_MS = 50
/** Number of collections that are remembered: far more than there are in that time. */
const MAX_COLLECTIONS = 100

/** The ends of the last long collections, on the clock of `performance`. */
const collections: number[] = []
new PerformanceObserver((list) => {
  for (const { startTime, duration } of list.getEntries())
    if (duration >= MIN_MS) collections.push(startTime + duration)
  collections.splice(0, collections.length - MAX_COLLECTIONS)
}).observe({ entryTypes: ['gc'] })

/** The longest pieces of a second, in ms of processor time. */
interface Longest {
  cpuMs: number
  withCollectionMs: number
  withStolenMs: number
}

/** Time that the host took from all processors since the start, as the system counts it; 0 where it does not. */
function stolenTicks(): number {
  try {
    const [, , , , , , , , stolen] = readFileSync('/proc/stat', 'latin1').split(/\s+/, 9)
    return Number(stolen)
  } catch {
    return 0
  }
}

let stolenBefore = stolenTicks()
setInterval(() => (stolenBefore = stolenTicks()), STOLEN_LOOK_MS).unref()

/** By the second since the epoch. */
const longest = new Map<number, Longest>()

let spentMs = threadMs()
let turnedAtMs = performance.now()

function endPiece(): void {
  const [nowMs, atMs] = [threadMs(), performance.now()]
  // The system counts processor time in ticks of some milliseconds, so that a piece can seem longer than it was.
  const [cpuMs, sinceMs] = [Math.min(nowMs - spentMs, atMs - turnedAtMs), turnedAtMs]
  spentMs = nowMs
  turnedAtMs = atMs
  if (cpuMs < MIN_MS) return
  const isStolen = stolenTicks() > stolenBefore
  const isCollected = (): boolean => collections.some((endMs) => endMs > sinceMs && endMs <= atMs)
  setTimeout(
    () => note(cpuMs, isStolen ? 'withStolenMs' : isCollected() ? 'withCollectionMs' : 'cpuMs'),
    HEARD_MS,
  ).unref()
}

/**
 * Marks the resources that begin a piece. They carry the mark themselves: a list of them would need a hook at their
 * end, and the engine calls thousands of those in one piece after it collected garbage.
 */
const BEGINS = Symbol('begins a piece')

createHook({
  init(_id, type, _trigger, resource: Record<symbol, unknown>) {
    if (BEGINNINGS.has(type)) resource[BEGINS] = true
  },
  before() {
    if (BEGINS in executionAsyncResource()) endPiece()
  },
  trackPromises: false,
} as HookCallbacks).enable()

setInterval(() => undefined, TICK_MS).unref()

function note(cpuMs: number, kind: keyof Longest): void {
  const second = Math.floor(Date.now() / SECOND_MS)
  const known = longest.get(second) ?? { cpuMs: 0, withCollectionMs: 0, withStolenMs: 0 }
  longest.set(second, known)
  if (longest.size > MAX_SECONDS) longest.delete(longest.keys().next().value!)
  known[kind] = Math.max(known[kind], cpuMs)
}

process.on('exit', () => {
  const path = process.env['STALLS_FILE']
  const told = [...longest].map(([second, pieces]) => ({ atMs: second * SECOND_MS, ...pieces }))
  if (path !== undefined) writeFileSync(path, JSON.stringify(told))
})

/** Returns the processor time of this thread in ms. */
function threadMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}
