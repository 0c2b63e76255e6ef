import { numberToHex } from 'viem'
import { parseAddress } from '@bezel/protocol/wire'
import type { ConsoleChain } from '../data/settings.ts'
import { isUnknownChain, type Eip1193Provider } from './provider.ts'

/** Receives what a wallet tells unasked. */
export interface WalletListener {
  /** Told the accounts that the page may use, the chosen one first; none when the wallet was locked. */
  readonly onAccounts: (accounts: readonly `0x${string}`[]) => void
  readonly onChain: (chainId: number) => void
  /** Told that the wallet has lost its chain. */
  readonly onDisconnect: () => void
}

/** Returns the accounts that the page may use. With `ask` the wallet asks its owner. */
export async function readAccounts(provider: Eip1193Provider, ask: boolean): Promise<readonly `0x${string}`[]> {
  return addressesOf(await provider.request({ method: ask ? 'eth_requestAccounts' : 'eth_accounts' }))
}

/** Returns the id of the chain that the wallet is on. */
export async function readChainId(provider: Eip1193Provider): Promise<number> {
  return Number(await provider.request({ method: 'eth_chainId' }))
}

/** Listens to a wallet. Returns how to stop. */
export function listenTo(provider: Eip1193Provider, listener: WalletListener): () => void {
  const onAccounts = (accounts: unknown): void => listener.onAccounts(addressesOf(accounts))
  const onChain = (chainId: unknown): void => listener.onChain(Number(chainId))
  const { onDisconnect } = listener
  const pairs = [
    ['accountsChanged', onAccounts],
    ['chainChanged', onChain],
    ['disconnect', onDisconnect],
  ] as const
  for (const [event, on] of pairs) provider.on?.(event, on)
  return () => pairs.forEach(([event, on]) => provider.removeListener?.(event, on))
}

/** Asks the wallet to go to a chain, and adds the chain where it is not known. Throws what the wallet throws. */
export async function goToChain(provider: Eip1193Provider, chain: ConsoleChain): Promise<void> {
  const chainId = numberToHex(chain.chainId)
  const go = { method: 'wallet_switchEthereumChain', params: [{ chainId }] }
  try {
    await provider.request(go)
  } catch (error) {
    if (!isUnknownChain(error) || chain.rpcUrl === null) throw error
    const { name, rpcUrl, explorer } = chain
    const described = {
      chainId,
      chainName: name,
      rpcUrls: [rpcUrl],
      nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
      ...(explorer === null ? {} : { blockExplorerUrls: [explorer] }),
    }
    await provider.request({ method: 'wallet_addEthereumChain', params: [described] })
    // Adding a chain need not mean going to it.
    if ((await readChainId(provider)) !== chain.chainId) await provider.request(go)
  }
}

function addressesOf(found: unknown): readonly `0x${string}`[] {
  if (!Array.isArray(found)) return []
  return found.flatMap((text: unknown) => (typeof text === 'string' ? (parseAddress(text) ?? []) : []))
}
