import { fork } from 'node:child_process'
import { once } from 'node:events'
import type { HostileAttack, HostileOrder } from './hostileProcess.ts'
import type { Ends } from './kind.ts'

const MAIN = new URL('./hostileProcess.ts', import.meta.url)

/** The process of the hostile clients, as the campaign sees it. */
export interface HostileCrowd {
  attack(of: Omit<HostileAttack, 'kind'>): void
  report(): Promise<Ends>
  /** They are gone in an instant, and none says goodbye. */
  kill(): Promise<void>
}

/** Resolves when it waits for its order. */
export async function startHostileCrowd(): Promise<HostileCrowd> {
  const child = fork(MAIN)
  const exited = once(child, 'exit')
  await once(child, 'message')
  const order = (what: HostileOrder): boolean => child.send(what)
  return {
    attack: (of) => void order({ kind: 'attack', ...of }),
    async report() {
      const answer = once(child, 'message', { signal: AbortSignal.timeout(20_000) })
      order({ kind: 'report' })
      return (await answer)[0] as Ends
    },
    async kill() {
      child.kill('SIGKILL')
      await exited
    },
  }
}
