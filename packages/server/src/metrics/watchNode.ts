import type { ChainSlug } from '@bezel/protocol'
import { Counter, Gauge } from 'prom-client'
import type { ChainCommits } from '../journal/commits.ts'
import type { RoleLead } from '../journal/roles.ts'
import type { SignatureEngine } from '../signatures/recovery.ts'
import type { Metrics } from './createMetrics.ts'

/** The parts of a node that say what it does in its deployment. All are read at each scrape. */
export interface NodeSources {
  /** Name of this process, which no other one ever has. */
  readonly id: string
  readonly version: string
  /** Returns the number of lines of the log that could not be written. */
  readonly lostLines: () => number
  readonly leads: () => readonly RoleLead[]
  readonly commits: ReadonlyMap<ChainSlug, Pick<ChainCommits, 'applied' | 'ageMs' | 'isReloading'>>
}

const JOURNAL_GAUGES: readonly {
  readonly name: string
  readonly help: string
  readonly value: (commits: Pick<ChainCommits, 'applied' | 'ageMs' | 'isReloading'>) => number
}[] = [
  {
    name: 'bezel_journal_commit',
    help: 'Number of the last commit of the chain that this node has applied.',
    value: ({ applied }) => applied(),
  },
  {
    name: 'bezel_journal_age_seconds',
    help: 'Time for which this node does not know whether others committed something. Above 2 it answers nothing private.',
    value: ({ ageMs }) => ageMs() / 1000,
  },
  {
    name: 'bezel_journal_reloading',
    help: '1 while this node reads everything again, because commits are missing.',
    value: ({ isReloading }) => Number(isReloading()),
  },
]

/** Name in the label `chain` of what belongs to no chain. */
const NO_CHAIN = 'none'

/** Adds the metrics of this node among others. Call it once. */
export function watchNode({ registry }: Metrics, { id, version, lostLines, leads, commits }: NodeSources): void {
  const registers = [registry]
  const info: Gauge<'node' | 'version'> = new Gauge({
    name: 'bezel_node_info',
    help: 'Always 1; the labels name the node and its version.',
    labelNames: ['node', 'version'],
    registers,
    collect: () => info.set({ node: id, version }, 1),
  })
  const held: Gauge<'chain' | 'role'> = new Gauge({
    name: 'bezel_lease_held',
    help: '1 while this node leads the role on the chain. Of all nodes exactly one does.',
    labelNames: ['chain', 'role'],
    registers,
    collect() {
      for (const { chain, role, isHeld } of leads()) held.set({ chain: chain || NO_CHAIN, role }, Number(isHeld))
    },
  })
  const lost: Counter = new Counter({
    name: 'bezel_log_lines_lost_total',
    help: 'Lines of the log that could not be written, because its target was gone, full or did not take them.',
    registers,
    collect() {
      lost.reset()
      lost.inc(lostLines())
    },
  })
  for (const { name, help, value } of JOURNAL_GAUGES) {
    const gauge: Gauge<'chain'> = new Gauge({
      name,
      help,
      labelNames: ['chain'],
      registers,
      collect() {
        for (const [chain, of] of commits) gauge.set({ chain }, value(of))
      },
    })
  }
}

/** Returns an engine whose checks are counted and timed. */
export function watchSignatures({ registry }: Metrics, engine: SignatureEngine): SignatureEngine {
  const registers = [registry]
  const checks = new Counter({
    name: 'bezel_signature_checks_total',
    help: 'Signatures whose signer was worked out.',
    registers,
  })
  const seconds = new Counter({
    name: 'bezel_signature_check_seconds_total',
    help: 'Time that this took.',
    registers,
  })
  return {
    ...engine,
    recoverPublicKey(digest, rs, recoveryId) {
      const sinceMs = performance.now()
      try {
        return engine.recoverPublicKey(digest, rs, recoveryId)
      } finally {
        checks.inc()
        seconds.inc((performance.now() - sinceMs) / 1000)
      }
    },
  }
}
