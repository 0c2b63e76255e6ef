import { writeFileSync } from 'node:fs'
import process from 'node:process'

// Loaded into a service before its own code: writes down the longest pieces of work of its main thread, at its end.
//
// A timer is due every few milliseconds. It can't fire while a piece of work runs, so the processor time of the thread
// between two of its turns bounds the longest piece in between. Time in which the machine ran something else is not in
// it, unlike in the delay of the event loop.

const TICK_MS = 2
const SECOND_MS = 1_000
/** Seconds that are remembered: a few hours. */
const MAX_SECONDS = 20_000

/** The longest piece of work of each second, in ms of processor time, by the second since the epoch. */
const longest = new Map<number, number>()
let spentMs = 0

setInterval(() => {
  const nowMs = threadMs()
  const cpuMs = nowMs - spentMs
  spentMs = nowMs
  const second = Math.floor(Date.now() / SECOND_MS)
  if (cpuMs <= (longest.get(second) ?? 0)) return
  longest.set(second, cpuMs)
  if (longest.size > MAX_SECONDS) longest.delete(longest.keys().next().value!)
}, TICK_MS).unref()

process.on('exit', () => {
  const path = process.env['STALLS_FILE']
  const told = [...longest].map(([second, cpuMs]) => ({ atMs: second * SECOND_MS, cpuMs }))
  if (path !== undefined) writeFileSync(path, JSON.stringify(told))
})

/** Returns the processor time of this thread in ms. */
function threadMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}
