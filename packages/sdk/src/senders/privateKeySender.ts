import { createWalletClient, http, type Transport } from 'viem'
import { privateKeyToAccount, type PrivateKeyAccount } from 'viem/accounts'
import type { TransactionSender } from './transactionSender.ts'
import { viemSender } from './viemSender.ts'

export type PrivateKeySenderOptions = (
  { readonly privateKey: `0x${string}` } | { readonly account: PrivateKeyAccount }
) &
  ({ readonly rpcUrl: string } | { readonly transport: Transport })

/** A sender that signs here, with a key of its own, over a node of the caller's choice. */
export function privateKeySender(options: PrivateKeySenderOptions): TransactionSender {
  const account = 'account' in options ? options.account : privateKeyToAccount(options.privateKey)
  const transport = 'transport' in options ? options.transport : http(options.rpcUrl)
  return viemSender(createWalletClient({ account, transport }))
}
