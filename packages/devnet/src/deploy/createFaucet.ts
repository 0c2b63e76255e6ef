import { Wei } from '@bezel/protocol'
import { encodeFunctionData, type Address, type Hex } from 'viem'
import type { LocalChain } from '../chain/createLocalChain.ts'
import { RPC_CODES, RpcError } from '../chain/jsonRpc.ts'
import { DEPLOYER } from './accounts.ts'
import { createWallet } from './createWallet.ts'
import { give, OTHER_PER_TRADER, STABLE_PER_TRADER, type ChainPlan } from './deployChain.ts'

/**
 * Gives an address what a trader of the local chain starts with, except the approval of the Diamond, which it must sign
 * itself.
 */
export interface Faucet {
  /** Funds an address and resolves when everything has arrived, with the hash of each transaction. */
  fund(address: Address): Promise<Hex[]>
}

const GAS_MONEY_WEI = 100n * Wei.one

const ARRIVAL_TIMEOUT_MS = 30_000

export function createFaucet(chain: LocalChain, { collaterals }: ChainPlan): Faucet {
  const wallet = createWallet(chain, DEPLOYER.account)
  return {
    async fund(address) {
      const sends: Promise<Hex>[] = [wallet.send(address, '0x', GAS_MONEY_WEI)]
      const sender: Parameters<typeof give>[0] = {
        call: (to, abi, functionName, args) =>
          void sends.push(wallet.send(to, encodeFunctionData({ abi, functionName, args }))),
        send: (to, data, value) => void sends.push(wallet.send(to, data, value)),
      }
      for (const collateral of collaterals) {
        give(sender, collateral, address, collateral.isStable ? STABLE_PER_TRADER : OTHER_PER_TRADER)
      }
      const hashes = await Promise.all(sends)
      await arrival(chain, hashes.at(-1)!)
      return hashes
    },
  }
}

/** Waits for the last transaction. Those of one account arrive in order, so it stands for all. */
async function arrival(chain: LocalChain, hash: Hex): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const unsubscribe = chain.onBlock(({ transactions }) => transactions.includes(hash) && resolve())
  const timer = setTimeout(
    () => reject(new RpcError(RPC_CODES.server, 'the faucet sent its transactions but no block took them up')),
    ARRIVAL_TIMEOUT_MS,
  )
  try {
    if ((await chain.request('eth_getTransactionReceipt', [hash])) !== null) return
    await promise
  } finally {
    unsubscribe()
    clearTimeout(timer)
  }
}
