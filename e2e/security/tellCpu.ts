import process from 'node:process'

// Loaded into a service before its own code: tells its processor time, in ms, to the process that started it, also that
// of a fixed piece of work, by which the speed of the machine at that moment is known.

const ROWS = 1_000

/** Does the fixed piece of work: makes a list, writes it as JSON, reads it and adds up. */
function doReferenceWork(): bigint {
  const list = Array.from({ length: ROWS }, (_, at) => ({ at, name: `order ${at}`, price: String(60_000 + at) }))
  const read = JSON.parse(JSON.stringify(list)) as typeof list
  return read.reduce((sum, { price }) => sum + BigInt(price), 0n)
}

function cpuMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}

process.on('message', (message) => {
  if (message === 'cpu') process.send?.({ cpuMs: cpuMs() })
  if (message !== 'reference') return
  const startMs = cpuMs()
  doReferenceWork()
  process.send?.({ cpuMs: cpuMs() - startMs })
})
// This channel does not keep the service alive.
process.channel?.unref()
