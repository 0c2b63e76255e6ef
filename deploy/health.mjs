// Asks the node on this machine for GET /health, and ends with 1 when it does not answer. For health checks of
// containers and of systemd; plain JavaScript, and needs no packages.
const ATTEMPTS = 3
const ANSWER_MS = 10_000
/** A connection that is refused fails at once: all attempts together must not last only a moment. */
const PAUSE_MS = 2_000

const { PORT = '8080', HOST = '127.0.0.1' } = process.env
const host = ['', '0.0.0.0', '::'].includes(HOST) ? '127.0.0.1' : HOST
const url = `http://${host.includes(':') ? `[${host}]` : host}:${PORT}/health`

for (let attempt = 1; ; attempt += 1) {
  const problem = await ask()
  if (problem === undefined) break
  console.error(`${url}, attempt ${attempt} of ${ATTEMPTS}: ${problem}`)
  if (attempt < ATTEMPTS) {
    await new Promise((over) => setTimeout(over, PAUSE_MS))
    continue
  }
  process.exitCode = 1
  break
}

/** Returns what is wrong; `undefined` for a node that lives. */
async function ask() {
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(ANSWER_MS) })
    return answer.ok ? undefined : `status ${answer.status}`
  } catch (error) {
    return error.cause?.message ?? error.message
  }
}
