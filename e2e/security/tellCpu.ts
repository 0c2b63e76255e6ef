import process from 'node:process'

// Loaded into a service before its own code: tells its processor time, in ms, to the process that started it.

process.on('message', (message) => {
  if (message !== 'cpu') return
  const { user, system } = process.cpuUsage()
  process.send?.({ cpuMs: (user + system) / 1_000 })
})
// This channel does not keep the service alive.
process.channel?.unref()
