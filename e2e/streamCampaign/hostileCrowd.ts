import { fork } from 'node:child_process'
import { once } from 'node:events'
import type { HostileAttack, HostileOrder } from './hostileProcess.ts'
import type { Ends } from './kind.ts'

const MAIN = new URL('./hostileProcess.ts', import.meta.url)

/** The handle of the hostile clients' process. */
export interface HostileCrowd {
  attack(of: Omit<HostileAttack, 'kind'>): void
  report(): Promise<Ends>
  /** Kills all clients at once, without a close frame. */
  kill(): Promise<void>
}

/** Starts the process. Resolves when it waits for its first order. */
export async function startHostileCrowd(): Promise<HostileCrowd> {
  const child = fork(MAIN)
  const exited = once(child, 'exit')
  await once(child, 'message')
  const order = (what: HostileOrder): boolean => child.send(what)
  return {
    attack: (of) => void order({ kind: 'attack', ...of }),
    async report() {
      const answer = once(child, 'message', { signal: AbortSignal.timeout(120_000) })
      order({ kind: 'report' })
      return (await answer)[0] as Ends
    },
    async kill() {
      child.kill('SIGKILL')
      await exited
    },
  }
}
