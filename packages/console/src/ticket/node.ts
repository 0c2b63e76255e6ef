import { chainInfo } from '../data/chain.ts'
import { settings } from '../data/settings.ts'
import { session } from '../session/session.ts'
import type { ChainCall } from './chainTerms.ts'

/** Asks a node of the active chain. */
export type AskNode = (method: string, params: readonly unknown[]) => Promise<unknown>

/** Returns a node that can be read without a prompt: that of the sandbox, else that of the wallet; null without one. */
export function readableNode(): AskNode | null {
  const rpcUrl = chainInfo.value?.rpcUrl ?? null
  if (rpcUrl !== null) return (method, params) => post(rpcUrl, method, params)
  const now = session.value
  if (now.kind !== 'connected' || !now.isRightChain) return null
  return (method, params) => now.wallet.provider.request({ method, params })
}

/** Returns `eth_call` over a node. */
export function callOver(ask: AskNode): ChainCall {
  return async (to, data) => (await ask('eth_call', [{ to, data }, 'latest'])) as `0x${string}`
}

/** Returns true when an account has native coins to pay for gas, and when nobody knows. */
export async function hasGas(address: `0x${string}`): Promise<boolean> {
  try {
    const balance = await readableNode()?.('eth_getBalance', [address, 'latest'])
    return typeof balance !== 'string' || BigInt(balance) > 0n
  } catch {
    return true
  }
}

/** Returns true on the local chain, whose faucet gives play money. */
export function hasFaucet(): boolean {
  return (settings.value?.sandbox ?? null) !== null && (chainInfo.value?.rpcUrl ?? null) !== null
}

/** Asks the faucet of the local chain for gas and play money. Throws a sentence for people. */
export async function askFaucet(address: `0x${string}`): Promise<void> {
  const rpcUrl = chainInfo.peek()?.rpcUrl ?? null
  if (rpcUrl === null) throw new Error('There is no faucet on this chain. Pay the tokens into your wallet.')
  await post(rpcUrl, 'bezel_faucet', [address])
}

/** Longest wait for an answer: the faucet waits until its transactions are mined. */
const TIMEOUT_MS = 30_000

async function post(url: string, method: string, params: readonly unknown[]): Promise<unknown> {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    signal: AbortSignal.timeout(TIMEOUT_MS),
  })
  const { result, error } = (await answer.json()) as { readonly result?: unknown; readonly error?: { message: string } }
  if (error !== undefined) throw new Error(`The local chain refused it: ${error.message}.`)
  return result
}
