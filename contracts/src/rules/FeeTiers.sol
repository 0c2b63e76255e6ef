// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import "../Constants.sol";
import "../Errors.sol";
import "../Storage.sol";

/// @notice Discounts by volume. A trader earns points with the size it trades; those of the last thirty days, today
/// apart, give its multiplier, which is fixed on the first trade of a day.
library FeeTiers {
    uint32 private constant TRAILING_DAYS = 30;
    uint32 private constant ONE = 1e3;
    uint224 private constant THRESHOLD_SCALE = 1e18;

    function today() internal view returns (uint32) {
        return uint32(block.timestamp / 1 days);
    }

    /// @return `fee` times the trader's multiplier of today; the raw fee before it has one
    function applied(address trader, uint256 fee) internal view returns (uint256) {
        uint256 multiplier = appStorage().feeTierDays[trader][today()].feeMultiplierCache;
        if (multiplier == 0 || appStorage().feeTierEnrollments[trader].status == ENROLLMENT_EXCLUDED) return fee;
        return (fee * multiplier) / ONE;
    }

    /// @return multiplier (1e3) of the highest tier that `points` reach
    function multiplierOf(uint224 points) internal view returns (uint32) {
        FeeTier[] storage tiers = appStorage().feeTiers;
        for (uint256 i = tiers.length; i > 0; --i) {
            if (points >= uint224(tiers[i - 1].pointsThreshold) * THRESHOLD_SCALE) return tiers[i - 1].feeMultiplier;
        }
        return ONE;
    }

    /// @notice Credits a traded size (USD, 1e18) and, on the first call of a day, fixes the multiplier of that day.
    /// @dev Due before a fee is computed (with 0 USD) and after it is charged.
    function credit(address trader, uint256 sizeUsd, uint256 feeIndex) internal {
        AppStorage storage s = appStorage();
        uint32 day = today();
        mapping(uint32 => TraderDailyInfo) storage dayOf = s.feeTierDays[trader];
        dayOf[day].points += uint224((sizeUsd * s.groupVolumeMultipliers[feeIndex]) / 1e3);

        TraderInfo storage info = s.feeTierTraders[trader];
        uint32 last = info.lastDayUpdated;
        if (day <= last) return;
        info.lastDayUpdated = day;
        if (last == 0) return; // nothing can have been earned before
        info.trailingPoints = last + TRAILING_DAYS < day ? 0 : trailingPoints(dayOf, info.trailingPoints, last, day);
        dayOf[day].feeMultiplierCache = multiplierOf(info.trailingPoints);
    }

    /// @return points of the thirty days before `day`, from those of the thirty before `last`
    function trailingPoints(
        mapping(uint32 => TraderDailyInfo) storage dayOf,
        uint224 points,
        uint32 last,
        uint32 day
    ) private view returns (uint224) {
        points += dayOf[last].points;
        for (uint32 expired = last - TRAILING_DAYS; expired < day - TRAILING_DAYS; ++expired) {
            points -= dayOf[expired].points;
        }
        return points;
    }
}
