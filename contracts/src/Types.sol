// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

// Structs of the live Diamond's ABI, field for field (names and widths are part of the interface).

struct Trade {
    address user;
    uint32 index;
    uint16 pairIndex;
    uint24 leverage; // 1e3
    bool long;
    bool isOpen;
    uint8 collateralIndex;
    uint8 tradeType;
    uint120 collateralAmount; // token decimals
    uint64 openPrice; // 1e10; expected price of a market order, trigger of a limit or stop
    uint64 tp; // 1e10, 0 = none
    uint64 sl; // 1e10, 0 = none
    bool isCounterTrade;
    uint160 positionSizeToken; // 1e18
    uint24 __placeholder;
}

struct TradeInfo {
    uint32 createdBlock;
    uint32 tpLastUpdatedBlock;
    uint32 slLastUpdatedBlock;
    uint16 maxSlippageP; // 1e3 per percent; opening slippage of a resting order, closing slippage of a position
    uint48 lastOiUpdateTs;
    uint48 collateralPriceUsd; // 1e8
    uint8 contractsVersion;
    uint32 lastPosIncreaseBlock;
    uint8 __placeholder;
}

struct Id {
    address user;
    uint32 index;
}

struct PendingOrder {
    Trade trade;
    address user;
    uint32 index;
    bool isOpen;
    uint8 orderType;
    uint32 createdBlock;
    uint16 maxSlippageP;
}

struct Counter {
    uint32 currentIndex;
    uint32 openCount;
    uint192 __placeholder;
}

struct Collateral {
    address collateral;
    bool isActive;
    uint88 __placeholder;
    uint128 precision; // 10^decimals
    uint128 precisionDelta; // 10^(18 - decimals)
}

struct GroupLiquidationParams {
    uint40 maxLiqSpreadP;
    uint40 startLiqThresholdP;
    uint40 endLiqThresholdP;
    uint24 startLeverage;
    uint24 endLeverage;
}

struct Feed {
    address feed1;
    address feed2;
    uint8 feedCalculation;
    uint256 maxDeviationP;
}

struct Pair {
    string from;
    string to;
    Feed feed;
    uint256 spreadP;
    uint256 groupIndex;
    uint256 feeIndex;
}

struct Group {
    string name;
    bytes32 job;
    uint256 minLeverage;
    uint256 maxLeverage;
}

struct FeeGroup {
    uint40 totalPositionSizeFeeP;
    uint40 totalLiqCollateralFeeP;
    uint40 oraclePositionSizeFeeP;
    uint32 minPositionSizeUsd; // 1e3
    uint104 __placeholder;
}

struct GlobalTradeFeeParams {
    uint24 referralFeeP; // 1e3 per percent, like the five below
    uint24 govFeeP;
    uint24 triggerOrderFeeP;
    uint24 gnsOtcFeeP;
    uint24 gTokenFeeP;
    uint24 gTokenOcFeeP;
    uint112 __placeholder;
}

struct PairDepthBands {
    uint256 aboveSlot1;
    uint256 aboveSlot2;
    uint256 belowSlot1;
    uint256 belowSlot2;
}

struct PairFactors {
    uint40 protectionCloseFactor;
    uint32 protectionCloseFactorBlocks;
    uint40 cumulativeFactor;
    bool exemptOnOpen;
    bool exemptAfterProtectionCloseFactor;
    uint128 __placeholder;
}

struct OiWindowsSettings {
    uint48 startTs;
    uint48 windowsDuration;
    uint48 windowsCount;
}

struct PairOi {
    uint128 oiLongUsd;
    uint128 oiShortUsd;
}

struct OiWindowUpdate {
    address trader;
    uint32 index;
    uint48 windowsDuration;
    uint256 pairIndex;
    uint256 windowId;
    bool long;
    bool open;
    bool isPnlPositive;
    uint128 openInterestUsd;
}

struct UserPriceImpact {
    uint16 cumulVolPriceImpactMultiplier;
    uint16 fixedSpreadP;
    uint224 __placeholder;
}

struct PairOiCollateral {
    uint128 oiLongCollateral;
    uint128 oiShortCollateral;
}

struct PairOiToken {
    uint128 oiLongToken;
    uint128 oiShortToken;
}

struct BorrowingData {
    uint32 feePerBlock; // 1e10 per percent
    uint64 accFeeLong; // 1e10 per percent
    uint64 accFeeShort;
    uint48 accLastUpdatedBlock;
    uint48 feeExponent;
}

struct OpenInterest {
    uint72 long;
    uint72 short;
    uint72 max;
    uint40 __placeholder;
}

struct BorrowingInitialAccFees {
    uint64 accPairFee;
    uint64 accGroupFee;
    uint48 block;
    uint80 __placeholder;
}

struct BorrowingPairGroup {
    uint16 groupIndex;
    uint48 block;
    uint64 initialAccFeeLong;
    uint64 initialAccFeeShort;
    uint64 prevGroupAccFeeLong;
    uint64 prevGroupAccFeeShort;
    uint64 pairAccFeeLong;
    uint64 pairAccFeeShort;
    uint64 __placeholder;
}

struct BorrowingFeePerBlockCap {
    uint32 minP; // 1e3 per percent of the largest open interest
    uint32 maxP;
}

struct BorrowingFeeInput {
    uint8 collateralIndex;
    address trader;
    uint16 pairIndex;
    uint32 index;
    bool long;
    uint256 collateral;
    uint256 leverage;
    uint256 currentPairPrice;
}

struct LiqPriceInput {
    uint8 collateralIndex;
    address trader;
    uint16 pairIndex;
    uint32 index;
    uint64 openPrice;
    bool long;
    uint256 collateral;
    uint256 leverage;
    int256 additionalFeeCollateral;
    GroupLiquidationParams liquidationParams;
    uint64 currentPairPrice;
    bool isCounterTrade;
    uint256 partialCloseMultiplier; // 1e18
    bool beforeOpened;
}

struct FundingFeeParams {
    uint112 skewCoefficientPerYear; // 1e26
    uint24 absoluteVelocityPerYearCap; // 1e7
    uint24 absoluteRatePerSecondCap; // 1e10
    uint32 thetaThresholdUsd; // whole USD
    bool fundingFeesEnabled;
    bool aprMultiplierEnabled;
    uint48 __placeholder;
}

struct PairFundingFeeData {
    int128 accFundingFeeLongP; // 1e20
    int128 accFundingFeeShortP;
    int56 lastFundingRatePerSecondP; // 1e18
    uint32 lastFundingUpdateTs;
    uint168 __placeholder;
}

struct BorrowingFeeParams {
    uint24 borrowingRatePerSecondP; // 1e10
    uint232 __placeholder;
}

struct PairBorrowingFeeData {
    uint128 accBorrowingFeeP; // 1e20
    uint32 lastBorrowingUpdateTs;
    uint96 __placeholder;
}

struct PairGlobalParams {
    uint80 maxSkewCollateral; // 1e10
    uint176 __placeholder;
}

struct TradeHoldingFees {
    int256 fundingFeeCollateral;
    uint256 borrowingFeeCollateral;
    uint256 borrowingFeeCollateral_old;
    int256 totalFeeCollateral;
}

struct TradeFeesData {
    uint128 realizedTradingFeesCollateral;
    int128 realizedPnlCollateral;
    uint128 manuallyRealizedNegativePnlCollateral;
    uint128 alreadyTransferredNegativePnlCollateral;
    uint128 virtualAvailableCollateralInDiamond;
    uint128 __placeholder;
    int128 initialAccFundingFeeP;
    uint128 initialAccBorrowingFeeP;
}

struct UiRealizedPnlData {
    uint128 realizedTradingFeesCollateral;
    uint128 realizedOldBorrowingFeesCollateral;
    uint128 realizedNewBorrowingFeesCollateral;
    int128 realizedFundingFeesCollateral;
    int128 realizedPnlPartialCloseCollateral;
    uint128 pnlWithdrawnCollateral;
}

struct FeeTier {
    uint32 feeMultiplier; // 1e3
    uint32 pointsThreshold;
}

struct TraderInfo {
    uint32 lastDayUpdated;
    uint224 trailingPoints; // 1e18
}

struct TraderDailyInfo {
    uint32 feeMultiplierCache; // 1e3, 0 = none that day
    uint224 points; // 1e18
}

struct TraderEnrollment {
    uint8 status;
    uint248 __placeholder;
}

struct OrderAnswer {
    uint56 open;
    uint56 high;
    uint56 low;
    uint56 current;
    uint32 ts;
}

struct Order {
    address user;
    uint32 index;
    uint8 orderType;
    uint16 pairIndex;
    bool isLookback;
    uint32 __placeholder;
}

struct AggregatorAnswer {
    Id orderId;
    uint64 open;
    uint64 high;
    uint64 low;
    uint64 current;
}

struct TradePriceImpact {
    uint256 positionSizeToken;
    int256 fixedSpreadP;
    int256 cumulVolPriceImpactP;
    int256 skewPriceImpactP;
    int256 totalPriceImpactP;
    uint64 priceAfterImpact;
}

struct Values {
    int256 profitP;
    uint256 executionPrice;
    uint256 executionPriceRaw;
    uint256 liqPrice;
    uint256 amountSentToTrader;
    uint256 collateralPriceUsd;
    bool exactExecution;
    uint32 limitIndex;
    TradePriceImpact priceImpact;
    uint8 cancelReason;
    uint256 collateralToReturn;
    uint120 newCollateralAmount;
    uint256 newEffectiveLeverage;
    uint256 pnlWithdrawnCollateral;
    uint256 openingFeeCollateral;
}

struct UpdateLeverageValues {
    uint256 newLeverage;
    uint256 newCollateralAmount;
    uint256 existingLiqPrice;
    uint256 newLiqPrice;
    uint256 govFeeCollateral;
    uint256 newEffectiveLeverage;
    uint256 totalTradeAvailableCollateralInDiamond;
    uint256 availableCollateralInDiamond;
}

struct IncreasePositionSizeValues {
    uint256 positionSizeCollateralDelta;
    uint256 existingPositionSizeCollateral;
    uint256 newPositionSizeCollateral;
    uint256 newCollateralAmount;
    uint256 newLeverage;
    TradePriceImpact priceImpact;
    int256 existingPnlCollateral;
    uint256 oldPosSizePlusPnlCollateral;
    uint256 newOpenPrice;
    uint256 openingFeesCollateral;
    uint256 existingLiqPrice;
    uint256 newLiqPrice;
    bool isCounterTradeValidated;
    uint256 exceedingPositionSizeCollateral;
    uint256 counterTradeCollateralToReturn;
    uint256 newEffectiveLeverage;
}

struct DecreasePositionSizeValues {
    bool isLeverageUpdate;
    uint256 positionSizeCollateralDelta;
    uint256 existingPositionSizeCollateral;
    uint256 existingLiqPrice;
    uint256 newLiqPrice;
    TradePriceImpact priceImpact;
    int256 existingPnlPercent;
    int256 partialRawPnlCollateral;
    int256 partialNetPnlCollateral;
    int256 pnlToRealizeCollateral;
    uint256 closingFeeCollateral;
    uint256 totalAvailableCollateralInDiamond;
    int256 availableCollateralInDiamond;
    int256 collateralSentToTrader;
    uint120 newCollateralAmount;
    uint24 newLeverage;
}

struct Facet {
    address facetAddress;
    bytes4[] functionSelectors;
}

struct FacetCut {
    address facetAddress;
    uint8 action;
    bytes4[] functionSelectors;
}

struct Addresses {
    address gns;
    address gnsStaking;
    address treasury;
}
