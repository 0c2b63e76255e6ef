import type { TradingKey } from '../data/client.ts'
import { REFUSED_BY_USER, walletErrorCode } from './provider.ts'

/** Receives what happens while the key of an action sends. */
export interface ActionKeyListener {
  /** Told that the owner of the key is asked to send, so that from now on it may have been sent. */
  readonly onSending: () => void
  /** Told the hash of what was sent. */
  readonly onSent: (txHash: `0x${string}`) => void
}

/**
 * Returns the key of one action. Once its owner has refused something, nothing further is asked in that action: the SDK
 * would withdraw what was prepared, which is one more prompt for who just said no.
 */
export function actionKey(key: TradingKey, { onSending, onSent }: ActionKeyListener): TradingKey {
  let refusal: { readonly error: unknown } | undefined
  async function asked<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
    if (refusal !== undefined) throw refusal.error
    try {
      return await ask()
    } catch (error) {
      if (walletErrorCode(error) === REFUSED_BY_USER) refusal = { error }
      throw error
    }
  }
  const { signer, sender } = key
  return {
    ...key,
    signer: {
      address: signer.address,
      signTypedData: (typedData: never) => asked(() => signer.signTypedData(typedData)),
    },
    sender: {
      ...sender,
      sendTransaction: (transaction) =>
        asked(async () => {
          onSending()
          const txHash = await sender.sendTransaction(transaction)
          onSent(txHash)
          return txHash
        }),
    },
  }
}
