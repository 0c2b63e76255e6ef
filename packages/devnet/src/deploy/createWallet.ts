import type { Address, Hex } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import type { LocalChain } from '../chain/createLocalChain.ts'
import { RPC_CODES, RpcError } from '../chain/jsonRpc.ts'

/** An account of the devnet itself that sends transactions, one after the other. */
export interface Wallet {
  readonly address: Address
  /** Sends a transaction; without a recipient it creates a contract. Resolves with its hash. */
  send(to: Address | null, data: Hex, value?: bigint): Promise<Hex>
}

export function createWallet(chain: LocalChain, account: PrivateKeyAccount): Wallet {
  let last: Promise<unknown> = Promise.resolve()

  async function sendNow(to: Address | null, data: Hex, value: bigint): Promise<Hex> {
    // Read each time, because a reorganisation or an evm_revert takes nonces back.
    const nonce = Number(await chain.request<Hex>('eth_getTransactionCount', [account.address, 'pending']))
    const raw = await signTransaction(chain, account, { to, data, value, nonce })
    return chain.request<Hex>('eth_sendRawTransaction', [raw])
  }

  return {
    address: account.address,
    send(to, data, value = 0n) {
      const sent = last.then(() => sendNow(to, data, value))
      last = sent.catch(() => undefined)
      return sent
    },
  }
}

const ARRIVAL_TIMEOUT_MS = 30_000

/** The part of a receipt that tells what became of a transaction. */
interface Arrival {
  readonly status: Hex
  readonly contractAddress: Address | null
}

/** Waits until a block has taken up a transaction. Throws an `RpcError` when none does. */
export async function arrival(chain: LocalChain, hash: Hex): Promise<Arrival> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const unsubscribe = chain.onBlock(({ transactions }) => transactions.includes(hash) && resolve())
  const timer = setTimeout(
    () => reject(new RpcError(RPC_CODES.server, 'a transaction was sent but no block took it up')),
    ARRIVAL_TIMEOUT_MS,
  )
  const read = () => chain.request<Arrival | null>('eth_getTransactionReceipt', [hash])
  try {
    const early = await read()
    if (early !== null) return early
    await promise
    return (await read())!
  } finally {
    unsubscribe()
    clearTimeout(timer)
  }
}

/** A transaction of one of the local chain's own accounts. */
interface OwnTransaction {
  readonly to: Address | null
  readonly data: Hex
  readonly value: bigint
  readonly nonce: number
}

/** Gas limit for the largest deployment; unused gas costs nothing. */
const GAS_LIMIT = 60_000_000n

/** Fee cap: a hundred times the local chain's base fee. */
const MAX_FEE_PER_GAS_WEI = 1_000_000_000n

export function signTransaction(
  chain: { readonly chainId: number },
  account: PrivateKeyAccount,
  transaction: OwnTransaction,
): Promise<Hex> {
  return account.signTransaction({
    ...transaction,
    type: 'eip1559',
    chainId: chain.chainId,
    gas: GAS_LIMIT,
    maxFeePerGas: MAX_FEE_PER_GAS_WEI,
    maxPriorityFeePerGas: 1n,
  })
}
