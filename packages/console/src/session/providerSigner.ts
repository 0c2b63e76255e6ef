import { viemSender, WrongChainError, type Signer, type TransactionSender, type TypedData } from '@bezel/sdk'
import { createWalletClient, custom } from 'viem'
import type { Eip1193Provider } from './provider.ts'
import { readChainId } from './walletLink.ts'

/** Creates a sender over a wallet. Its node also answers reads of the chain. */
export function createProviderSender(provider: Eip1193Provider, address: `0x${string}`): TransactionSender {
  // A retry of a transaction would be a second prompt, and perhaps a second transaction.
  const transport = custom({ request: (call: never) => provider.request(call) }, { retryCount: 0 })
  return viemSender(createWalletClient({ account: address, transport }))
}

/**
 * Creates a signer over a wallet. A wallet on another chain is not asked, because most refuse typed data of a chain
 * that they are not on, in words that help nobody.
 */
export function createProviderSigner(
  provider: Eip1193Provider,
  address: `0x${string}`,
  chainId: () => number | undefined,
): Signer {
  return {
    address,
    async signTypedData(typedData: never) {
      const [found, expected] = [await readChainId(provider), chainId()]
      if (expected !== undefined && found !== expected)
        throw new WrongChainError({ who: 'The wallet', expected, found })
      const params = [address, typedDataJson(typedData)]
      return (await provider.request({ method: 'eth_signTypedData_v4', params })) as `0x${string}`
    },
  }
}

const DOMAIN_FIELDS = [
  { name: 'name', type: 'string' },
  { name: 'version', type: 'string' },
  { name: 'chainId', type: 'uint256' },
  { name: 'verifyingContract', type: 'address' },
]

/** Returns typed data as wallets take it: JSON with the fields of the domain, and whole numbers as text. */
export function typedDataJson({ domain, types, primaryType, message }: TypedData): string {
  const whole = { domain, types: { EIP712Domain: DOMAIN_FIELDS, ...types }, primaryType, message }
  return JSON.stringify(whole, (_name, value: unknown) => (typeof value === 'bigint' ? String(value) : value))
}
