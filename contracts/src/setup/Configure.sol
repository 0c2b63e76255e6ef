// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import "../Events.sol";
import "../rules/BorrowingV1.sol";
import "../rules/FeeTiers.sol";

/// @notice First-generation borrowing of a pair; its largest open interest is the pair's own limit.
struct BorrowingPairParams {
    uint16 groupIndex; // 0 = none
    uint32 feePerBlock; // 1e10 per percent
    uint48 feeExponent;
}

struct BorrowingGroupParams {
    uint32 feePerBlock; // 1e10 per percent
    uint48 feeExponent;
    uint72 maxOi; // 1e10, 0 = no limit
}

/// @notice Settings whose setters are not part of the interface we mirror. Never a facet: `diamondCut` runs one call of
/// it as an initializer, so the Diamond keeps exactly the selectors of the live one and only governance can get here.
contract Configure {
    function setAddresses(Addresses calldata addresses) external {
        appStorage().addresses = addresses;
        emit AddressesUpdated(addresses);
    }

    function setOracles(
        address[] calldata oracles,
        uint8 minAnswers,
        uint24 maxMarketDeviationP,
        uint24 maxLookbackDeviationP
    ) external {
        if (minAnswers == 0 || minAnswers > oracles.length) revert WrongParams();
        AppStorage storage s = appStorage();
        s.oracles = oracles;
        s.minAnswers = minAnswers;
        s.maxMarketDeviationP = maxMarketDeviationP;
        s.maxLookbackDeviationP = maxLookbackDeviationP;
    }

    function setLinkToken(address linkToken) external {
        appStorage().linkToken = linkToken;
    }

    function setCollateralUsdPriceFeed(uint8 collateralIndex, address feed) external {
        appStorage().collateralUsdPriceFeed[collateralIndex] = feed;
    }

    function setGlobalTradeFeeParams(GlobalTradeFeeParams calldata params) external {
        uint256 sum = uint256(params.govFeeP) + params.triggerOrderFeeP + params.gnsOtcFeeP;
        if (sum + params.gTokenFeeP + params.gTokenOcFeeP != 100e3) revert WrongFees();
        appStorage().globalTradeFeeParams = params;
    }

    function setFees(uint256[] calldata indices, FeeGroup[] calldata fees) external {
        for (uint256 i; i < indices.length; ++i) {
            appStorage().fees[indices[i]] = fees[i];
            emit FeeUpdated(indices[i], fees[i]);
        }
    }

    function setCounterTrades(
        uint256[] calldata pairIndices,
        CounterTradeSettings[] calldata settings
    ) external {
        for (uint256 i; i < pairIndices.length; ++i) appStorage().counterTradeSettings[pairIndices[i]] = settings[i];
    }

    function setDepthBands(uint256[] calldata pairIndices, PairDepthBands[] calldata bands) external {
        for (uint256 i; i < pairIndices.length; ++i) appStorage().pairDepthBands[pairIndices[i]] = bands[i];
    }

    function setDepthBandsMapping(uint256 slot1, uint256 slot2) external {
        appStorage().depthBandsMappingSlot1 = slot1;
        appStorage().depthBandsMappingSlot2 = slot2;
    }

    function setPairFactors(uint256[] calldata pairIndices, PairFactors[] calldata factors) external {
        for (uint256 i; i < pairIndices.length; ++i) appStorage().pairFactors[pairIndices[i]] = factors[i];
    }

    function setOiWindows(OiWindowsSettings calldata settings, uint48 negPnlCumulVolMultiplier) external {
        appStorage().oiWindowsSettings = settings;
        appStorage().negPnlCumulVolMultiplier = negPnlCumulVolMultiplier;
    }

    function setUserPriceImpact(address trader, uint256 pairIndex, UserPriceImpact calldata impact) external {
        appStorage().userPriceImpact[trader][pairIndex] = impact;
    }

    function setProtectionCloseFactorWhitelist(address trader, bool isWhitelisted) external {
        appStorage().protectionCloseFactorWhitelist[trader] = isWhitelisted;
    }

    function setSkewDepths(uint8 collateralIndex, uint16[] calldata pairIndices, uint256[] calldata depths) external {
        for (uint256 i; i < pairIndices.length; ++i) {
            appStorage().pairSkewDepth[collateralIndex][pairIndices[i]] = depths[i];
        }
    }

    function setMaxOis(uint8 collateralIndex, uint16[] calldata pairIndices, uint72[] calldata maxOis) external {
        for (uint256 i; i < pairIndices.length; ++i) {
            appStorage().pairMaxOi[collateralIndex][pairIndices[i]] = maxOis[i];
        }
    }

    function setMaxSkews(uint8 collateralIndex, uint16[] calldata pairIndices, uint80[] calldata maxSkews) external {
        for (uint256 i; i < pairIndices.length; ++i) {
            appStorage().pairGlobalParams[collateralIndex][pairIndices[i]].maxSkewCollateral = maxSkews[i];
        }
    }

    function setFundingParams(
        uint8 collateralIndex,
        uint16[] calldata pairIndices,
        FundingFeeParams[] calldata params
    ) external {
        for (uint256 i; i < pairIndices.length; ++i) {
            appStorage().fundingParams[collateralIndex][pairIndices[i]] = params[i];
        }
    }

    function setBorrowingParams(
        uint8 collateralIndex,
        uint16[] calldata pairIndices,
        BorrowingFeeParams[] calldata params
    ) external {
        for (uint256 i; i < pairIndices.length; ++i) {
            appStorage().borrowingParams[collateralIndex][pairIndices[i]] = params[i];
        }
    }

    function setBorrowingV1Pairs(
        uint8 collateralIndex,
        uint16[] calldata pairIndices,
        BorrowingPairParams[] calldata params
    ) external {
        for (uint256 i; i < pairIndices.length; ++i) {
            BorrowingV1.assign(collateralIndex, pairIndices[i], params[i].groupIndex);
            BorrowingData storage pair = appStorage().borrowingPairs[collateralIndex][pairIndices[i]];
            pair.feePerBlock = params[i].feePerBlock;
            pair.feeExponent = params[i].feeExponent;
        }
    }

    function setBorrowingV1Groups(
        uint8 collateralIndex,
        uint16[] calldata groupIndices,
        BorrowingGroupParams[] calldata params
    ) external {
        for (uint256 i; i < groupIndices.length; ++i) {
            if (groupIndices[i] == 0) revert BorrowingZeroGroup();
            if (params[i].feeExponent < 1 || params[i].feeExponent > 3) revert BorrowingWrongExponent();
            BorrowingV1.storeGroup(collateralIndex, groupIndices[i]);
            BorrowingData storage group = appStorage().borrowingGroups[collateralIndex][groupIndices[i]];
            group.feePerBlock = params[i].feePerBlock;
            group.feeExponent = params[i].feeExponent;
            appStorage().borrowingGroupOis[collateralIndex][groupIndices[i]].max = params[i].maxOi;
        }
    }

    function setBorrowingFeePerBlockCap(BorrowingFeePerBlockCap calldata cap) external {
        appStorage().borrowingFeePerBlockCap = cap;
    }

    function setBorrowingPairFeePerBlockCaps(
        uint8 collateralIndex,
        uint16[] calldata pairIndices,
        BorrowingFeePerBlockCap[] calldata caps
    ) external {
        for (uint256 i; i < pairIndices.length; ++i) {
            appStorage().borrowingPairFeePerBlockCap[collateralIndex][pairIndices[i]] = caps[i];
        }
    }

    /// @param multipliers points per USD traded by fee group, 1e3
    function setFeeTiers(FeeTier[] calldata tiers, uint256[] calldata multipliers) external {
        delete appStorage().feeTiers;
        for (uint256 i; i < tiers.length; ++i) {
            bool isOrdered = i == 0 ||
                (tiers[i].feeMultiplier < tiers[i - 1].feeMultiplier &&
                    tiers[i].pointsThreshold > tiers[i - 1].pointsThreshold);
            if (tiers[i].feeMultiplier >= 1e3 || tiers[i].pointsThreshold == 0 || !isOrdered) revert WrongFeeTier();
            appStorage().feeTiers.push(tiers[i]);
        }
        for (uint256 i; i < multipliers.length; ++i) appStorage().groupVolumeMultipliers[i] = multipliers[i];
    }

    /// @notice Lets a trader have earned `points` (1e18) yesterday and nothing before. Its tier applies at once, and
    /// the points expire like any others.
    function setTraderPoints(address trader, uint224 points) external {
        uint32 day = FeeTiers.today();
        mapping(uint32 => TraderDailyInfo) storage dayOf = appStorage().feeTierDays[trader];
        for (uint32 i = 2; i <= 31; ++i) delete dayOf[day - i];
        dayOf[day - 1] = TraderDailyInfo(0, points);
        dayOf[day].feeMultiplierCache = FeeTiers.multiplierOf(points);
        appStorage().feeTierTraders[trader] = TraderInfo(day, points);
    }

    function setFeeTiersEnrollment(address trader, TraderEnrollment calldata enrollment) external {
        appStorage().feeTierEnrollments[trader] = enrollment;
    }
}
