import type { Signer, TransactionSender } from '@bezel/sdk'
import { NotConnectedError } from '../data/client.ts'
import type { Eip1193Provider } from './provider.ts'
import { createProviderSender, createProviderSigner } from './providerSigner.ts'
import { epoch, guardEpoch, session, signerFacts } from './session.ts'

/** Returns the sender of the connected wallet: the trader's own transactions. Throws `NotConnectedError`. */
export function walletSender(): TransactionSender {
  const { provider, address } = requireWallet()
  const since = epoch.peek()
  const sender = createProviderSender(provider, address)
  return {
    ...sender,
    sendTransaction(transaction) {
      guardEpoch(since)
      return sender.sendTransaction(transaction)
    },
  }
}

/** Returns the signer of the connected wallet: each signature is a prompt. Throws `NotConnectedError`. */
export function walletSigner(): Signer {
  const { provider, address } = requireWallet()
  const since = epoch.peek()
  const signer = createProviderSigner(provider, address, signerFacts)
  return {
    address,
    async signTypedData(typedData: never) {
      guardEpoch(since)
      const signature = await signer.signTypedData(typedData)
      guardEpoch(since)
      return signature
    },
  }
}

function requireWallet(): { readonly provider: Eip1193Provider; readonly address: `0x${string}` } {
  const now = session.peek()
  if (now.kind !== 'connected') throw new NotConnectedError()
  return { provider: now.wallet.provider, address: now.address }
}
