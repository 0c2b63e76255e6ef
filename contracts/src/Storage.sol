// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import "./Types.sol";

struct FacetPosition {
    address facet;
    uint96 position; // in selectorsOf[facet]
}

struct PriceRequest {
    Order order;
    address oracle;
    uint32 createdTs;
}

struct CounterTradeSettings {
    uint24 maxLeverage; // 1e3, 0 = no counter trades on the pair
    uint16 feeRateMultiplier; // 1e3
}

/// @notice Everything the Diamond remembers, grouped by the facet that owns it.
struct AppStorage {
    // Diamond
    mapping(bytes4 => FacetPosition) facetOf;
    mapping(address => bytes4[]) selectorsOf;
    address[] facetAddresses;
    // Addresses and access
    Addresses addresses;
    mapping(address => mapping(uint8 => bool)) roles;
    uint256 reentrancyLock;
    // Trading interactions
    address senderOverride; // the trader a delegate is acting for, inside delegatedTradingAction
    mapping(address => address) delegateOf;
    uint16 marketOrdersTimeoutBlocks;
    mapping(address => bool) byPassTriggerLink;
    // Trading storage
    uint8 tradingActivated;
    uint8 collateralsCount;
    mapping(uint8 => Collateral) collaterals;
    mapping(uint8 => address) gTokens;
    mapping(address => uint8) collateralIndexOf;
    address[] traders;
    mapping(address => bool) traderStored;
    mapping(address => mapping(uint32 => Trade)) trades;
    mapping(address => mapping(uint32 => TradeInfo)) tradeInfos;
    mapping(address => mapping(uint32 => GroupLiquidationParams)) liquidationParams;
    mapping(address => mapping(uint32 => PendingOrder)) pendingOrders;
    mapping(address => mapping(uint8 => Counter)) counters;
    mapping(address => uint32[]) openTradeIndices; // ascending
    mapping(address => uint32[]) openPendingIndices; // ascending
    mapping(address => mapping(uint32 => mapping(uint8 => uint256))) tradePendingOrderBlock;
    // Pairs storage
    Pair[] pairs;
    Group[] groups;
    FeeGroup[] fees;
    mapping(string => mapping(string => bool)) isPairListed;
    mapping(uint256 => uint256) pairCustomMaxLeverage;
    mapping(uint256 => GroupLiquidationParams) groupLiquidationParams;
    mapping(uint256 => CounterTradeSettings) counterTradeSettings;
    GlobalTradeFeeParams globalTradeFeeParams;
    // Price impact
    mapping(uint256 => PairDepthBands) pairDepthBands;
    uint256 depthBandsMappingSlot1;
    uint256 depthBandsMappingSlot2;
    mapping(uint256 => PairFactors) pairFactors;
    OiWindowsSettings oiWindowsSettings;
    mapping(uint48 => mapping(uint256 => mapping(uint256 => PairOi))) oiWindows;
    uint48 negPnlCumulVolMultiplier; // 1e10
    mapping(address => mapping(uint256 => UserPriceImpact)) userPriceImpact;
    mapping(address => bool) protectionCloseFactorWhitelist;
    mapping(uint8 => mapping(uint16 => uint256)) pairSkewDepth;
    mapping(uint8 => mapping(uint16 => PairOiCollateral)) oiCollateral;
    mapping(uint8 => mapping(uint16 => PairOiToken)) oiToken;
    mapping(uint8 => mapping(uint16 => uint72)) pairMaxOi; // 1e10
    // Funding and borrowing
    mapping(uint8 => mapping(uint16 => FundingFeeParams)) fundingParams;
    mapping(uint8 => mapping(uint16 => PairFundingFeeData)) fundingData;
    mapping(uint8 => mapping(uint16 => BorrowingFeeParams)) borrowingParams;
    mapping(uint8 => mapping(uint16 => PairBorrowingFeeData)) borrowingData;
    mapping(uint8 => mapping(uint16 => PairGlobalParams)) pairGlobalParams;
    mapping(address => mapping(uint32 => TradeFeesData)) tradeFeesData;
    mapping(address => mapping(uint32 => UiRealizedPnlData)) uiRealizedPnl;
    // Borrowing of the first generation
    mapping(uint8 => mapping(uint16 => BorrowingData)) borrowingPairs;
    mapping(uint8 => mapping(uint16 => BorrowingData)) borrowingGroups;
    mapping(uint8 => mapping(uint16 => OpenInterest)) borrowingGroupOis;
    mapping(uint8 => mapping(uint16 => BorrowingPairGroup[])) borrowingPairGroups; // the last one is in force
    mapping(uint8 => mapping(address => mapping(uint32 => BorrowingInitialAccFees))) borrowingInitialAccFees;
    BorrowingFeePerBlockCap borrowingFeePerBlockCap;
    mapping(uint8 => mapping(uint16 => BorrowingFeePerBlockCap)) borrowingPairFeePerBlockCap;
    // Fee tiers
    FeeTier[] feeTiers; // thresholds ascend, multipliers descend
    mapping(uint256 => uint256) groupVolumeMultipliers; // by fee group, 1e3
    mapping(address => TraderInfo) feeTierTraders;
    mapping(address => mapping(uint32 => TraderDailyInfo)) feeTierDays;
    mapping(address => TraderEnrollment) feeTierEnrollments;
    // Price aggregator
    address[] oracles;
    uint8 minAnswers;
    uint24 maxMarketDeviationP; // 1e3
    uint24 maxLookbackDeviationP; // 1e3
    address linkToken;
    uint16 triggerTimeoutBlocks;
    mapping(uint8 => address) collateralUsdPriceFeed;
    mapping(bytes32 => PriceRequest) priceRequests;
    mapping(address => mapping(uint32 => OrderAnswer[])) answers;
    // Callbacks
    mapping(uint8 => uint256) pendingGovFees;
}

function appStorage() pure returns (AppStorage storage $) {
    bytes32 slot = keccak256("bezel.diamond.storage");
    assembly {
        $.slot := slot
    }
}
