import { createPublicClient, formatEther, http, type Address } from 'viem'
import type { Target } from '../connection/target.ts'

/** What an account has for fees, in native coins; `undefined` when no node is known or it does not answer. */
export async function readGas({ rpcUrl }: Target, address: Address): Promise<string | undefined> {
  if (rpcUrl === undefined) return undefined
  try {
    return formatEther(await createPublicClient({ transport: http(rpcUrl) }).getBalance({ address }))
  } catch {
    return undefined
  }
}

/** A local chain gives coins to whoever asks. `false` where there is none. */
export async function askFaucet({ rpcUrl, devnet, chain }: Target, address: Address): Promise<boolean> {
  if (rpcUrl === undefined || devnet?.chains[chain]?.rpcUrl !== rpcUrl) return false
  const call = { method: 'bezel_faucet', params: [address] } as never
  await createPublicClient({ transport: http(rpcUrl) }).request(call)
  return true
}
