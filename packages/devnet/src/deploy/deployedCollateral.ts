import type { Address } from 'viem'
import type { ListedCollateral } from '../listing/collaterals.ts'

/** A collateral as it stands on a local chain. */
export interface DeployedCollateral extends ListedCollateral {
  readonly address: Address
  readonly vault: Address
  readonly priceFeed: Address
}
