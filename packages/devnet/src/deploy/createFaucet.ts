import { Wei } from '@bezel/protocol'
import { encodeFunctionData, type Address, type Hex } from 'viem'
import type { LocalChain } from '../chain/createLocalChain.ts'
import { arrival, type Wallet } from './createWallet.ts'
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

/** Creates the faucet. `wallet` is the deployer's. */
export function createFaucet(chain: LocalChain, wallet: Wallet, { collaterals }: ChainPlan): Faucet {
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
      // Transactions of one account arrive in order, so the last one stands for all.
      await arrival(chain, hashes.at(-1)!)
      return hashes
    },
  }
}
