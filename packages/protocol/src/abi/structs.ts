// The structs of the Diamond, each written once. The ABI of a facet names the structs its signatures use. Scales:
// prices are 1e10, leverage is 1e3, names that end in P are percent at 1e10 (`maxSlippageP` and fee shares at 1e3).

export const tradeStruct =
  'struct Trade { address user; uint32 index; uint16 pairIndex; uint24 leverage; bool long; bool isOpen; uint8 collateralIndex; uint8 tradeType; uint120 collateralAmount; uint64 openPrice; uint64 tp; uint64 sl; bool isCounterTrade; uint160 positionSizeToken; uint24 __placeholder; }'

export const orderAnswerStruct =
  'struct OrderAnswer { uint56 open; uint56 high; uint56 low; uint56 current; uint32 ts; }'

export const signedPairPricesStruct =
  'struct SignedPairPrices { uint8 signerId; uint32 expiryTs; bool isLookback; uint32 fromBlock; bytes signature; uint16[] pairIndices; OrderAnswer[] prices; }'

export const tradeInfoStruct =
  'struct TradeInfo { uint32 createdBlock; uint32 tpLastUpdatedBlock; uint32 slLastUpdatedBlock; uint16 maxSlippageP; uint48 lastOiUpdateTs; uint48 collateralPriceUsd; uint8 contractsVersion; uint32 lastPosIncreaseBlock; uint8 __placeholder; }'

export const idStruct = 'struct Id { address user; uint32 index; }'

export const pendingOrderStruct =
  'struct PendingOrder { Trade trade; address user; uint32 index; bool isOpen; uint8 orderType; uint32 createdBlock; uint16 maxSlippageP; }'

export const counterStruct = 'struct Counter { uint32 currentIndex; uint32 openCount; uint192 __placeholder; }'

export const collateralStruct =
  'struct Collateral { address collateral; bool isActive; uint88 __placeholder; uint128 precision; uint128 precisionDelta; }'

export const groupLiquidationParamsStruct =
  'struct GroupLiquidationParams { uint40 maxLiqSpreadP; uint40 startLiqThresholdP; uint40 endLiqThresholdP; uint24 startLeverage; uint24 endLeverage; }'

export const feedStruct = 'struct Feed { address feed1; address feed2; uint8 feedCalculation; uint256 maxDeviationP; }'

export const pairStruct =
  'struct Pair { string from; string to; Feed feed; uint256 spreadP; uint256 groupIndex; uint256 feeIndex; }'

export const groupStruct = 'struct Group { string name; bytes32 job; uint256 minLeverage; uint256 maxLeverage; }'

export const feeGroupStruct =
  'struct FeeGroup { uint40 totalPositionSizeFeeP; uint40 totalLiqCollateralFeeP; uint40 oraclePositionSizeFeeP; uint32 minPositionSizeUsd; uint104 __placeholder; }'

export const globalTradeFeeParamsStruct =
  'struct GlobalTradeFeeParams { uint24 referralFeeP; uint24 govFeeP; uint24 triggerOrderFeeP; uint24 gnsOtcFeeP; uint24 gTokenFeeP; uint24 gTokenOcFeeP; uint112 __placeholder; }'

export const pairFlagsStruct =
  'struct PairFlags { bool skipBurn; bool skipFeeTierMultiplier; bool skipFeeTierMultiplierCounterTrade; uint232 __placeholder; }'

export const pairDepthBandsStruct =
  'struct PairDepthBands { uint256 aboveSlot1; uint256 aboveSlot2; uint256 belowSlot1; uint256 belowSlot2; }'

export const pairFactorsStruct =
  'struct PairFactors { uint40 protectionCloseFactor; uint32 protectionCloseFactorBlocks; uint40 cumulativeFactor; bool exemptOnOpen; bool exemptAfterProtectionCloseFactor; uint128 __placeholder; }'

export const oiWindowsSettingsStruct =
  'struct OiWindowsSettings { uint48 startTs; uint48 windowsDuration; uint48 windowsCount; }'

export const pairOiStruct = 'struct PairOi { uint128 oiLongUsd; uint128 oiShortUsd; }'

export const userPriceImpactStruct =
  'struct UserPriceImpact { uint16 cumulVolPriceImpactMultiplier; uint16 fixedSpreadP; uint224 __placeholder; }'

export const pairOiCollateralStruct = 'struct PairOiCollateral { uint128 oiLongCollateral; uint128 oiShortCollateral; }'

export const pairOiTokenStruct = 'struct PairOiToken { uint128 oiLongToken; uint128 oiShortToken; }'

export const borrowingDataStruct =
  'struct BorrowingData { uint32 feePerBlock; uint64 accFeeLong; uint64 accFeeShort; uint48 accLastUpdatedBlock; uint48 feeExponent; }'

export const openInterestStruct = 'struct OpenInterest { uint72 long; uint72 short; uint72 max; uint40 __placeholder; }'

export const borrowingPairGroupStruct =
  'struct BorrowingPairGroup { uint16 groupIndex; uint48 block; uint64 initialAccFeeLong; uint64 initialAccFeeShort; uint64 prevGroupAccFeeLong; uint64 prevGroupAccFeeShort; uint64 pairAccFeeLong; uint64 pairAccFeeShort; uint64 __placeholder; }'

export const borrowingInitialAccFeesStruct =
  'struct BorrowingInitialAccFees { uint64 accPairFee; uint64 accGroupFee; uint48 block; uint80 __placeholder; }'

export const borrowingFeePerBlockCapStruct = 'struct BorrowingFeePerBlockCap { uint32 minP; uint32 maxP; }'

export const borrowingFeeInputStruct =
  'struct BorrowingFeeInput { uint8 collateralIndex; address trader; uint16 pairIndex; uint32 index; bool long; uint256 collateral; uint256 leverage; uint256 currentPairPrice; }'

export const liqPriceInputStruct =
  'struct LiqPriceInput { uint8 collateralIndex; address trader; uint16 pairIndex; uint32 index; uint64 openPrice; bool long; uint256 collateral; uint256 leverage; int256 additionalFeeCollateral; GroupLiquidationParams liquidationParams; uint64 currentPairPrice; bool isCounterTrade; uint256 partialCloseMultiplier; bool beforeOpened; }'

export const fundingFeeParamsStruct =
  'struct FundingFeeParams { uint112 skewCoefficientPerYear; uint24 absoluteVelocityPerYearCap; uint24 absoluteRatePerSecondCap; uint32 thetaThresholdUsd; bool fundingFeesEnabled; bool aprMultiplierEnabled; uint48 __placeholder; }'

export const pairFundingFeeDataStruct =
  'struct PairFundingFeeData { int128 accFundingFeeLongP; int128 accFundingFeeShortP; int56 lastFundingRatePerSecondP; uint32 lastFundingUpdateTs; uint168 __placeholder; }'

export const borrowingFeeParamsStruct =
  'struct BorrowingFeeParams { uint24 borrowingRatePerSecondP; uint232 __placeholder; }'

export const pairBorrowingFeeDataStruct =
  'struct PairBorrowingFeeData { uint128 accBorrowingFeeP; uint32 lastBorrowingUpdateTs; uint96 __placeholder; }'

export const pairGlobalParamsStruct = 'struct PairGlobalParams { uint80 maxSkewCollateral; uint176 __placeholder; }'

export const tradeHoldingFeesStruct =
  'struct TradeHoldingFees { int256 fundingFeeCollateral; uint256 borrowingFeeCollateral; uint256 borrowingFeeCollateral_old; int256 totalFeeCollateral; }'

export const tradeFeesDataStruct =
  'struct TradeFeesData { uint128 realizedTradingFeesCollateral; int128 realizedPnlCollateral; uint128 manuallyRealizedNegativePnlCollateral; uint128 alreadyTransferredNegativePnlCollateral; uint128 virtualAvailableCollateralInDiamond; uint128 __placeholder; int128 initialAccFundingFeeP; uint128 initialAccBorrowingFeeP; }'

export const uiRealizedPnlDataStruct =
  'struct UiRealizedPnlData { uint128 realizedTradingFeesCollateral; uint128 realizedOldBorrowingFeesCollateral; uint128 realizedNewBorrowingFeesCollateral; int128 realizedFundingFeesCollateral; int128 realizedPnlPartialCloseCollateral; uint128 pnlWithdrawnCollateral; }'

export const feeTierStruct = 'struct FeeTier { uint32 feeMultiplier; uint32 pointsThreshold; }'

export const traderInfoStruct = 'struct TraderInfo { uint32 lastDayUpdated; uint224 trailingPoints; }'

export const traderDailyInfoStruct = 'struct TraderDailyInfo { uint32 feeMultiplierCache; uint224 points; }'

export const traderEnrollmentStruct = 'struct TraderEnrollment { uint8 status; uint248 __placeholder; }'

export const gnsStakingInfoStruct =
  'struct GnsStakingInfo { uint88 stakedGns; uint88 stakedVaultGns; uint24 bonusAmount; uint32 stakeTimestamp; uint32 feeMultiplierCache; }'

export const orderStruct =
  'struct Order { address user; uint32 index; uint8 orderType; uint16 pairIndex; bool isLookback; uint32 __placeholder; }'

export const tradePriceImpactStruct =
  'struct TradePriceImpact { uint256 positionSizeToken; int256 fixedSpreadP; int256 cumulVolPriceImpactP; int256 skewPriceImpactP; int256 totalPriceImpactP; uint64 priceAfterImpact; }'

export const valuesStruct =
  'struct Values { int256 profitP; uint256 executionPrice; uint256 executionPriceRaw; uint256 liqPrice; uint256 amountSentToTrader; uint256 collateralPriceUsd; bool exactExecution; uint32 limitIndex; TradePriceImpact priceImpact; uint8 cancelReason; uint256 collateralToReturn; uint120 newCollateralAmount; uint256 newEffectiveLeverage; uint256 pnlWithdrawnCollateral; uint256 openingFeeCollateral; }'

export const facetStruct = 'struct Facet { address facetAddress; bytes4[] functionSelectors; }'

export const facetCutStruct = 'struct FacetCut { address facetAddress; uint8 action; bytes4[] functionSelectors; }'

export const addressesStruct = 'struct Addresses { address gns; address gnsStaking; address treasury; }'

export const updateLeverageValuesStruct =
  'struct UpdateLeverageValues { uint256 newLeverage; uint256 newCollateralAmount; uint256 existingLiqPrice; uint256 newLiqPrice; uint256 govFeeCollateral; uint256 newEffectiveLeverage; uint256 totalTradeAvailableCollateralInDiamond; uint256 availableCollateralInDiamond; }'

export const increasePositionSizeValuesStruct =
  'struct IncreasePositionSizeValues { uint256 positionSizeCollateralDelta; uint256 existingPositionSizeCollateral; uint256 newPositionSizeCollateral; uint256 newCollateralAmount; uint256 newLeverage; TradePriceImpact priceImpact; int256 existingPnlCollateral; uint256 oldPosSizePlusPnlCollateral; uint256 newOpenPrice; uint256 openingFeesCollateral; uint256 existingLiqPrice; uint256 newLiqPrice; bool isCounterTradeValidated; uint256 exceedingPositionSizeCollateral; uint256 counterTradeCollateralToReturn; uint256 newEffectiveLeverage; }'

export const decreasePositionSizeValuesStruct =
  'struct DecreasePositionSizeValues { bool isLeverageUpdate; uint256 positionSizeCollateralDelta; uint256 existingPositionSizeCollateral; uint256 existingLiqPrice; uint256 newLiqPrice; TradePriceImpact priceImpact; int256 existingPnlPercent; int256 partialRawPnlCollateral; int256 partialNetPnlCollateral; int256 pnlToRealizeCollateral; uint256 closingFeeCollateral; uint256 totalAvailableCollateralInDiamond; int256 availableCollateralInDiamond; int256 collateralSentToTrader; uint120 newCollateralAmount; uint24 newLeverage; }'

export const oiWindowUpdateStruct =
  'struct OiWindowUpdate { address trader; uint32 index; uint48 windowsDuration; uint256 pairIndex; uint256 windowId; bool long; bool open; bool isPnlPositive; uint128 openInterestUsd; }'

export const aggregatorAnswerStruct =
  'struct AggregatorAnswer { Id orderId; uint64 open; uint64 high; uint64 low; uint64 current; }'
