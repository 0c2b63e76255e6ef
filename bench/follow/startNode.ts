import { fork } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ServedBlock } from './renumber.ts'

export interface ServingNode {
  readonly url: string
  /** Makes the chain end with this block. */
  setHead(number: number): Promise<void>
  stop(): void
}

export async function startNode(folder: string, chainId: number, blocks: readonly ServedBlock[]): Promise<ServingNode> {
  const file = join(folder, 'blocks.json')
  writeFileSync(file, JSON.stringify({ chainId, blocks }))
  const child = fork(new URL('./node.ts', import.meta.url), [file])
  const [{ port }] = (await once(child, 'message')) as [{ port: number }]
  return {
    url: `http://127.0.0.1:${port}`,
    async setHead(head) {
      child.send({ head })
      await once(child, 'message')
    },
    stop: () => void child.kill(),
  }
}
