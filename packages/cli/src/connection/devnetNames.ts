import { UsageError } from '../errors/usageError.ts'
import type { Devnet } from './readDevnet.ts'

export interface DevnetNames {
  readonly trader: string
  readonly agent: string
}

const FIRST: DevnetNames = { trader: 'trader-1', agent: 'agent-1' }

/** Which accounts of the local chain `--as` means: `trader-2/agent-3`, or one of the two with the other of the same number. */
export function devnetNames(text: string | undefined, devnet: Devnet | undefined): DevnetNames {
  if (text === undefined) return FIRST
  if (devnet === undefined) {
    throw new UsageError(
      '--as names accounts of a local chain, and none is found here. Start one (npm start), or set BEZEL_DATA to its folder.',
    )
  }
  const names = split(text)
  const known = devnet.accounts.map(({ name }) => name)
  const unknown = [names.trader, names.agent].find((name) => !known.includes(name))
  if (unknown === undefined) return names
  throw new UsageError(
    `The local chain has no account ${JSON.stringify(unknown.slice(0, 40))}; it has ${known.join(', ')}.`,
  )
}

function split(text: string): DevnetNames {
  const [trader = '', agent] = text.split('/')
  if (agent !== undefined) return { trader, agent }
  const number = /^(?:trader|agent)-(\d+)$/.exec(trader)?.[1]
  if (number !== undefined) return { trader: `trader-${number}`, agent: `agent-${number}` }
  throw new UsageError(
    `--as ${JSON.stringify(text.slice(0, 40))} names no agent. Name both: --as ${text.slice(0, 40)}/agent-1.`,
  )
}
