import { Agent, request } from 'node:http'
import process from 'node:process'

// The attackers of bench/flood.ts, in a process of their own: each has an address of this machine, and asks for the
// most expensive things that are known, exactly as often as its limit allows.

/** A job for the attackers: they work until the next one, or until the process ends. */
export interface FloodJob {
  readonly port: number
  readonly addresses: number
  readonly requests: readonly FloodRequest[]
}

export interface FloodRequest {
  readonly method: string
  readonly path: string
  readonly body?: string
  readonly weight: number
}

/** Answers since the last job, by status. */
export type FloodAnswers = Readonly<Record<string, number>>

/** Milliseconds in which a limit of 600 a minute gives one unit of weight. */
const UNIT_MS = 100

let timers: NodeJS.Timeout[] = []
let answers: Record<string, number> = {}

process.on('message', (job: FloodJob) => {
  process.send?.(answers)
  answers = {}
  for (const timer of timers) clearTimeout(timer)
  timers = []
  for (let at = 0; at < job.addresses; at += 1) attack(job, at)
})

function attack({ port, requests }: FloodJob, at: number): void {
  const agent = new Agent({ keepAlive: true, localAddress: `127.0.0.${at + 2}`, maxSockets: 20 })
  let turn = at
  function next(): void {
    const asked = requests[turn % requests.length]!
    turn += 1
    send(asked)
    timers[at] = setTimeout(next, asked.weight * UNIT_MS)
  }
  function send({ method, path, body }: FloodRequest): void {
    const headers = body === undefined ? {} : { 'content-type': 'application/json' }
    const sent = request({ agent, port, host: '127.0.0.1', method, path, headers }, (answer) => {
      const status = String(answer.statusCode)
      answers[status] = (answers[status] ?? 0) + 1
      answer.resume()
    })
    sent.on('error', () => {})
    sent.end(body)
  }
  next()
}
