import { tradingInteractionsAbi } from './abi/tradingInteractionsAbi.ts'
import { tradingStorageAbi } from './abi/tradingStorageAbi.ts'
import { pairsStorageAbi } from './abi/pairsStorageAbi.ts'
import { priceImpactAbi } from './abi/priceImpactAbi.ts'
import { borrowingAbi } from './abi/borrowingAbi.ts'
import { fundingFeesAbi } from './abi/fundingFeesAbi.ts'
import { feeTiersAndReferralsAbi } from './abi/feeTiersAndReferralsAbi.ts'
import { aggregatorAndCallbacksAbi } from './abi/aggregatorAndCallbacksAbi.ts'
import { diamondInfraAbi } from './abi/diamondInfraAbi.ts'
import { orderEventsAbi } from './abi/orderEventsAbi.ts'
import { storageEventsAbi } from './abi/storageEventsAbi.ts'
import { moneyEventsAbi } from './abi/moneyEventsAbi.ts'
import { oracleEventsAbi } from './abi/oracleEventsAbi.ts'
import { errorsAbi } from './abi/errorsAbi.ts'

/** The whole interface of the Diamond that Bezel uses: 201 functions, 80 events, 115 errors. */
export const diamondAbi = [
  ...tradingInteractionsAbi,
  ...tradingStorageAbi,
  ...pairsStorageAbi,
  ...priceImpactAbi,
  ...borrowingAbi,
  ...fundingFeesAbi,
  ...feeTiersAndReferralsAbi,
  ...aggregatorAndCallbacksAbi,
  ...diamondInfraAbi,
  ...orderEventsAbi,
  ...storageEventsAbi,
  ...moneyEventsAbi,
  ...oracleEventsAbi,
  ...errorsAbi,
] as const
