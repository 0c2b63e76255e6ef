import type { DiamondDeployment } from '@bezel/contracts'
import type { ChainSlug } from '@bezel/protocol'
import { zeroAddress, type Address } from 'viem'
import { DEPTH_BAND_OFFSETS_PPM } from '../listing/depthBands.ts'
import { FEES } from '../listing/fees.ts'
import { GROUPS } from '../listing/groups.ts'
import { CHAIN_SETTINGS, GLOBAL_TRADE_FEES, OI_WINDOWS } from '../listing/settings.ts'
import { KEEPER, ORACLES, TREASURY } from './accounts.ts'
import { packBands } from './packBands.ts'
import type { DeployedCollateral } from './deployedCollateral.ts'

/** 1e3 per percent: an oracle further than this from the median is not counted. */
const MAX_DEVIATION_P = 1_000
/** 1e10. Ours: a close at a loss weighs as much on the volume as one in profit. */
const NEG_PNL_CUMUL_VOL_MULTIPLIER = 10n ** 10n

/** What holds for the whole Diamond: collaterals, oracles, timeouts, groups, fees. */
export function configureTrading(
  { call, configure }: DiamondDeployment,
  slug: ChainSlug,
  linkToken: Address,
  collaterals: readonly DeployedCollateral[],
): void {
  const { marketOrdersTimeoutBlocks, triggerTimeoutBlocks, minAnswers } = CHAIN_SETTINGS[slug]
  for (const { index, address, vault, priceFeed } of collaterals) {
    call('CollateralsFacet', 'addCollateral', [address, vault])
    configure('setCollateralUsdPriceFeed', [index, priceFeed])
  }
  const gns = collaterals.find(({ symbol }) => symbol === 'GNS')?.address ?? zeroAddress
  configure('setAddresses', [{ gns, gnsStaking: zeroAddress, treasury: TREASURY.account.address }])
  configure('setOracles', [
    ORACLES.slice(0, minAnswers + 1).map(({ account }) => account.address),
    minAnswers,
    MAX_DEVIATION_P,
    MAX_DEVIATION_P,
  ])
  configure('setLinkToken', [linkToken])
  configure('setGlobalTradeFeeParams', [{ ...GLOBAL_TRADE_FEES, __placeholder: 0n }])
  const { slot1, slot2 } = packBands(DEPTH_BAND_OFFSETS_PPM)
  configure('setDepthBandsMapping', [slot1, slot2])
  configure('setOiWindows', [
    { startTs: 0, windowsDuration: OI_WINDOWS.durationSeconds, windowsCount: OI_WINDOWS.count },
    NEG_PNL_CUMUL_VOL_MULTIPLIER,
  ])
  call('TradingInteractionsFacet', 'updateMarketOrdersTimeoutBlocks', [marketOrdersTimeoutBlocks])
  call('TradingInteractionsFacet', 'updateByPassTriggerLink', [[KEEPER.account.address], [true]])
  call('TradingCallbacksFacet', 'updateTriggerTimeoutBlocks', [triggerTimeoutBlocks])
  call('PairsStorageFacet', 'addGroups', [GROUPS.map((group) => ({ ...group, job: `0x${'00'.repeat(32)}` }))])
  for (const { index, liquidation } of GROUPS) {
    call('PairsStorageFacet', 'setGroupLiquidationParams', [index, liquidation])
  }
  call('PairsStorageFacet', 'addFees', [FEES.map((fee) => ({ ...fee, __placeholder: 0n }))])
}
