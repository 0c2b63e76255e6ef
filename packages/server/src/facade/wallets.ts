import { NodeUnavailableError } from '../ground/unavailable.ts'
import { scaleDecimalTruncated, type Address, type Decimal } from '@bezel/protocol'
import type { Holdings } from '../accounts/readHoldings.ts'
import { putLast } from '../ground/putLast.ts'
import type { ChainMarkets } from '../trading/market/chainMarkets.ts'
import { usdOf } from './usd.ts'

type Balances = Pick<Holdings, 'balances'>

/** What traders have in their wallets. */
export interface Wallets {
  /**
   * In the chain's default collateral, as USD (1e6); at once when it is known. While the node is away what was last seen holds. Throws
   * `NodeUnavailableError` when nothing was.
   */
  balance(trader: Address, chain: ChainMarkets): bigint | Promise<bigint>
}

/** The oldest go first. */
const MAX_KNOWN = 10_000

export function createWallets(holdings: (trader: Address) => Balances | Promise<Balances>): Wallets {
  const lastSeen = new Map<Address, Balances>()

  function see(trader: Address, found: Balances): Balances {
    if (lastSeen.get(trader) !== found) putLast(lastSeen, trader, found, MAX_KNOWN)
    return found
  }

  async function waitFor(trader: Address, reading: Promise<Balances>): Promise<Balances> {
    try {
      return see(trader, await reading)
    } catch (error) {
      const last = error instanceof NodeUnavailableError ? lastSeen.get(trader) : undefined
      if (last === undefined) throw error
      return last
    }
  }

  return {
    balance(trader, chain) {
      const found = holdings(trader)
      if (!(found instanceof Promise)) return usdIn(see(trader, found), chain)
      return waitFor(trader, found).then((seen) => usdIn(seen, chain))
    },
  }
}

function usdIn({ balances }: Balances, chain: ChainMarkets): bigint {
  const token = chain.collaterals.find(({ index }) => index === chain.defaultCollateralIndex)
  const text = balances.find(({ collateral }) => collateral === token?.symbol)?.balance
  if (token === undefined || text === undefined) return 0n
  return usdOf(token, scaleDecimalTruncated(text as Decimal, token.decimals))
}
