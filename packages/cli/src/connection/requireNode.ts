import { CHAINS, WrongChainError } from '@bezel/sdk'
import { createPublicClient, http } from 'viem'
import { CliError } from '../errors/cliError.ts'
import { EXIT_CODES } from '../errors/exitCodes.ts'
import type { Target } from './target.ts'

/** Throws when the node does not answer or is on another chain, before anything is prepared in vain. */
export async function requireNode({ chain }: Target, rpcUrl: string): Promise<void> {
  const expected = CHAINS[chain].chainId
  const found = await readChainId(rpcUrl)
  if (found !== expected) throw new WrongChainError({ who: 'The sender', expected, found })
}

async function readChainId(rpcUrl: string): Promise<number> {
  try {
    return await createPublicClient({ transport: http(rpcUrl, { retryCount: 1 }) }).getChainId()
  } catch {
    // Only the host: paths of nodes often hold a key.
    const { host } = new URL(rpcUrl)
    throw new CliError(
      'NODE_UNREACHABLE',
      EXIT_CODES.unreachable,
      `The chain's node at ${host} does not answer. Check --rpc (BEZEL_RPC_URL) and the connection.`,
    )
  }
}
