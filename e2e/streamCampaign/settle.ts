import process from 'node:process'

// Loaded into the service before its own code. When its parent asks, it collects all garbage, including the room kept
// free for new objects, and then reports its memory. So the report shows live data and not recent activity.

const ROUNDS = 2
const EVERYTHING = { type: 'major', execution: 'sync', flavor: 'last-resort' } as const

process.on('message', (message) => {
  if (message !== 'settle') return
  for (let round = 0; round < ROUNDS; round += 1) globalThis.gc!(EVERYTHING)
  const { rss, heapUsed, external } = process.memoryUsage()
  process.send!({ type: 'settled', rss, heapUsed, external })
})
// This channel does not keep the service alive.
process.channel?.unref()
