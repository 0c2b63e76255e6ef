// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import "../Errors.sol";
import "../Events.sol";
import "../Storage.sol";

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
}
