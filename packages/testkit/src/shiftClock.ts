import process from 'node:process'

// Loaded before a program whose clock a test sets wrong, see `shiftedClock`.

const realNow = Date.now
let aheadMs = Number(process.env['CLOCK_AHEAD_MS'] ?? 0)
let stepMs = Number(process.env['CLOCK_STEP_MS'] ?? 0)

Date.now = () => realNow() + aheadMs
process.on('SIGURG', () => {
  aheadMs += stepMs
  stepMs = -stepMs
})
