import { viemSender, type TransactionSender } from '@bezel/sdk'
import { createWalletClient, custom, http, numberToHex, parseEther, publicActions, type Hex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import type { Eip1193Provider } from './provider.ts'

/** Returns an amount of native coins in wei. Throws a sentence for what is no amount. */
export function coinsOf(amount: string): bigint {
  if (!/^\d+(?:\.\d{1,18})?$/.test(amount)) throw new Error(`${amount} is no amount of coins. Write it like 0.01.`)
  return parseEther(amount)
}

/** Sends native coins from a wallet, which asks its owner, and waits until they have arrived. */
export async function sendCoins(provider: Eip1193Provider, from: Hex, to: Hex, amount: string): Promise<void> {
  const transaction = { from, to, value: numberToHex(coinsOf(amount)) }
  const hash = (await provider.request({ method: 'eth_sendTransaction', params: [transaction] })) as Hex
  for (let look = 0; look < RECEIPT_LOOKS; look += 1) {
    const receipt = await provider.request({ method: 'eth_getTransactionReceipt', params: [hash] }).catch(() => null)
    if (receipt !== null) return
    await new Promise((resolve) => setTimeout(resolve, RECEIPT_POLL_MS))
  }
}

const RECEIPT_LOOKS = 60
const RECEIPT_POLL_MS = 500

/** A node to send over: an address, or that of a wallet. */
export type Node = { readonly rpcUrl: string } | { readonly provider: Eip1193Provider }

/** A sender with a key of this page, and its wallet client. */
export interface LocalSender {
  readonly sender: TransactionSender
  readonly client: ReturnType<typeof localClient>
}

/** Creates a sender that signs with a key of this page and sends over a node. */
export function localSender(privateKey: Hex, node: Node): LocalSender {
  const client = localClient(privateKey, node)
  return { client, sender: viemSender(client) }
}

function localClient(privateKey: Hex, node: Node) {
  const transport =
    'rpcUrl' in node ? http(node.rpcUrl) : custom({ request: (call: never) => node.provider.request(call) })
  return createWalletClient({ account: privateKeyToAccount(privateKey), transport }).extend(publicActions)
}

/** Part of the balance that stays for fees which rise meanwhile, as a divisor of the fee. */
const SPARE = 2n

/** Sends what a key of this page has left in native coins to an account. Dust that does not pay for it stays. */
export async function sendRestBack({ client }: LocalSender, to: Hex): Promise<void> {
  const { account } = client
  const balance = await client.getBalance({ address: account.address })
  if (balance === 0n) return
  const gas = await client.estimateGas({ account, to, value: 1n })
  const { maxFeePerGas } = await client.estimateFeesPerGas()
  const fee = gas * maxFeePerGas
  const value = balance - fee - fee / SPARE
  if (value > 0n) await client.sendTransaction({ account, chain: null, to, value, gas, maxFeePerGas })
}
