import { join } from 'node:path'
import { startFront } from '@bezel/testkit/cluster/startFront.ts'
import { lastingPort } from '@bezel/testkit/lastingPort.ts'
import type { SeededRandom } from '@bezel/testkit/seededRandom.ts'
import { createKillableService, pollUntil, type KillableService } from '../campaign/killableService.ts'

/**
 * Creates nodes behind a front that are killed one at a time. The cluster is at a stage when one node at least has
 * reached it. `kill` takes a random one, also one that starts, and `start` starts all that do not run.
 */
export async function createKillableCluster(
  settings: Readonly<Record<string, string>>,
  of: { readonly size: number; readonly folder: string; readonly random: SeededRandom },
): Promise<KillableService> {
  const ports = new Set<number>()
  while (ports.size < of.size) ports.add(await lastingPort())
  const nodes = [...ports].map((port, at) =>
    createKillableService(port, { ...settings, BEZEL_DATA: join(of.folder, `node-${at}`) }),
  )
  const front = await startFront(nodes.map(({ url }) => ({ url, isRelayer: true })))
  const down = new Set(nodes)
  const each = async (how: 'stop' | 'close'): Promise<void> => {
    await Promise.all(nodes.map((node) => node[how]()))
    for (const node of nodes) down.add(node)
  }
  // Every node is asked, because one that has ended by itself says so.
  const hasReached: KillableService['hasReached'] = (stage) =>
    nodes.map((node) => node.hasReached(stage)).includes(true)
  return {
    url: front.url,
    nodes,
    get complaints() {
      return nodes.flatMap(({ complaints }) => complaints)
    },
    start() {
      for (const node of down) node.start()
      down.clear()
    },
    async kill() {
      const node = of.random.pick(nodes)
      down.add(node)
      await node.kill()
    },
    stop: () => each('stop'),
    once: (stage) => pollUntil(() => hasReached(stage)),
    hasReached,
    async close() {
      await each('close')
      await front.close()
    },
  }
}
