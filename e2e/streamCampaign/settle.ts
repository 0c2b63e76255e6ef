import process from 'node:process'

// Loaded into the service before its own code. Asked by its parent, it collects all garbage first and then tells its memory, so that what it
// holds is measured and not what it has not thrown away yet.

const ROUNDS = 3

process.on('message', (message) => {
  if (message !== 'settle') return
  for (let round = 0; round < ROUNDS; round += 1) globalThis.gc!()
  const { rss, heapUsed, external } = process.memoryUsage()
  process.send!({ type: 'settled', rss, heapUsed, external })
})
// The service lives and ends without regard to this.
process.channel?.unref()
