import process from 'node:process'

// Loaded into the service before its own code. Asked by its parent, it throws away first all that it does not need, the room that it keeps free
// for new objects too, and then tells its memory: what it holds is measured, and not how much work it has had lately.

const ROUNDS = 2
const EVERYTHING = { type: 'major', execution: 'sync', flavor: 'last-resort' } as const

process.on('message', (message) => {
  if (message !== 'settle') return
  for (let round = 0; round < ROUNDS; round += 1) globalThis.gc!(EVERYTHING)
  const { rss, heapUsed, external } = process.memoryUsage()
  process.send!({ type: 'settled', rss, heapUsed, external })
})
// The service lives and ends without regard to this.
process.channel?.unref()
