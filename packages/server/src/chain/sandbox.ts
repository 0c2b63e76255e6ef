import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { SANDBOX_MARKER_NAME } from '@bezel/protocol/dataFolder'
import { isLive, type ServedChain } from './servedChain.ts'

/**
 * True for a deployment on a local chain, whose keys everybody knows: none of its Diamonds is live, and its chains file
 * lies in the folder that the local chain has marked as its own.
 */
export function isSandbox(of: {
  readonly chains: readonly Pick<ServedChain, 'slug' | 'diamond'>[]
  readonly chainsFile: string
}): boolean {
  return !of.chains.some(isLive) && existsSync(join(dirname(of.chainsFile), SANDBOX_MARKER_NAME))
}
