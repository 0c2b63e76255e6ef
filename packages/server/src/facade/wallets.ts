import { scaleDecimalTruncated, type Address, type Decimal } from '@bezel/protocol'
import type { Holdings } from '../accounts/readHoldings.ts'
import { putLast } from '../agents/putLast.ts'
import { NodeUnavailableError } from '../chain/rpcOutcome.ts'
import type { ChainMarkets } from '../market/chainMarkets.ts'
import { usdOf } from './usd.ts'

/** What traders have in their wallets. */
export interface Wallets {
  /** In the chain's default collateral, as USD (1e6). While the node is away what was last seen holds. Throws `NodeUnavailableError` when nothing was. */
  balance(trader: Address, chain: ChainMarkets): Promise<bigint>
}

/** The oldest go first. */
const MAX_KNOWN = 10_000

export function createWallets(holdings: (trader: Address) => Promise<Pick<Holdings, 'balances'>>): Wallets {
  const lastSeen = new Map<Address, Pick<Holdings, 'balances'>>()

  async function look(trader: Address): Promise<Pick<Holdings, 'balances'>> {
    try {
      const found = await holdings(trader)
      putLast(lastSeen, trader, found, MAX_KNOWN)
      return found
    } catch (error) {
      const last = error instanceof NodeUnavailableError ? lastSeen.get(trader) : undefined
      if (last === undefined) throw error
      return last
    }
  }

  return {
    async balance(trader, chain) {
      const { balances } = await look(trader)
      const token = chain.collaterals.find(({ index }) => index === chain.defaultCollateralIndex)
      const text = balances.find(({ collateral }) => collateral === token?.symbol)?.balance
      if (token === undefined || text === undefined) return 0n
      return usdOf(token, scaleDecimalTruncated(text as Decimal, token.decimals))
    },
  }
}
