import { createWalletClient, http, numberToHex, type Hex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import type { ConsoleChain, SandboxAccount } from '../data/settings.ts'
import type { Eip1193Provider, WalletOption } from './provider.ts'

/** Options of a sandbox wallet. */
export interface SandboxWalletOptions {
  readonly account: SandboxAccount
  /** Returns the chain that the page is about. The wallet is always on it. */
  readonly chain: () => Pick<ConsoleChain, 'chainId' | 'rpcUrl'>
}

/**
 * Creates a wallet over the known key of an account of the local chain. It speaks EIP-1193 as an extension does, so
 * that the rest of the page makes no difference, and confirms without asking.
 */
export function createSandboxProvider({ account, chain }: SandboxWalletOptions): Eip1193Provider {
  const signer = privateKeyToAccount(account.privateKey)
  const nodeUrl = (): string => {
    const { rpcUrl } = chain()
    if (rpcUrl === null) throw new Error('This chain has no sandbox. Choose the local chain, or another wallet.')
    return rpcUrl
  }
  const wallet = (): ReturnType<typeof createWalletClient> => createWalletClient({ transport: http(nodeUrl()) })

  /** Signs typed data, which wallets take as JSON. */
  function signTypedData(json: unknown): Promise<Hex> {
    const { domain, types, primaryType, message } = JSON.parse(String(json)) as TypedDataJson
    return signer.signTypedData({ domain, types, primaryType, message } as never)
  }

  function sendTransaction({ to, data, value, gas }: TransactionJson): Promise<Hex> {
    return wallet().sendTransaction({
      account: signer,
      chain: null,
      to: to ?? null,
      ...(data === undefined ? {} : { data }),
      ...(value === undefined ? {} : { value: BigInt(value) }),
      ...(gas === undefined ? {} : { gas: BigInt(gas) }),
    })
  }

  return {
    async request({ method, params = [] }) {
      const given = Array.isArray(params) ? (params as readonly unknown[]) : [params]
      switch (method) {
        case 'eth_requestAccounts':
        case 'eth_accounts':
          return [signer.address]
        case 'eth_chainId':
          return numberToHex(chain().chainId)
        case 'wallet_switchEthereumChain':
        case 'wallet_addEthereumChain':
          return null
        case 'eth_signTypedData_v4':
          return signTypedData(given[1])
        case 'eth_sendTransaction':
          return sendTransaction(given[0] as TransactionJson)
        default:
          return wallet().request({ method, params: given } as never)
      }
    },
  }
}

/** Returns the accounts of the sandbox as wallets. */
export function sandboxWallets(
  accounts: readonly SandboxAccount[],
  chain: SandboxWalletOptions['chain'],
): readonly WalletOption[] {
  return accounts.map((account) => ({
    id: `sandbox:${account.name}`,
    name: account.name,
    icon: null,
    kind: 'sandbox',
    provider: createSandboxProvider({ account, chain }),
  }))
}

interface TypedDataJson {
  readonly domain: object
  readonly types: Readonly<Record<string, readonly object[]>>
  readonly primaryType: string
  readonly message: object
}

interface TransactionJson {
  readonly to?: Hex
  readonly data?: Hex
  readonly value?: Hex
  readonly gas?: Hex
}
