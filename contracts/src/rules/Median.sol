// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import "../Errors.sol";
import "../Types.sol";

/// @notice One answer out of several oracles': outliers dropped, then the median of each price.
library Median {
    /// @dev A market answer carries only `current`; a lookback answer carries the whole candle.
    function unpack(uint256 data, bool isLookback) internal pure returns (OrderAnswer memory a) {
        a.open = uint56(data);
        a.high = uint56(data >> 56);
        a.low = uint56(data >> 112);
        a.current = uint56(data >> 168);
        a.ts = uint32(data >> 224);
        if (a.current == 0) revert PriceZero();
        if (!isLookback) return a;
        if (a.open == 0 || a.low == 0 || a.low > a.open || a.high < a.open) revert InvalidCandle();
    }

    /// @param maxDeviationP 1e3 per percent; 0 = no filter
    /// @return the answers near the median
    function filter(
        OrderAnswer[] memory answers,
        bool isLookback,
        uint256 maxDeviationP
    ) internal pure returns (OrderAnswer[] memory) {
        if (maxDeviationP == 0) return answers;
        OrderAnswer[] memory near = new OrderAnswer[](answers.length);
        uint256 medianCurrent = middle(answers, 3);
        uint256 medianOpen = isLookback ? middle(answers, 0) : 0;
        uint256 count;
        for (uint256 i; i < answers.length; ++i) {
            bool isNear = within(answers[i].current, medianCurrent, maxDeviationP) &&
                (!isLookback || within(answers[i].open, medianOpen, maxDeviationP));
            if (isNear) near[count++] = answers[i];
        }
        assembly {
            mstore(near, count)
        }
        return near;
    }

    function within(uint256 price, uint256 median, uint256 maxDeviationP) private pure returns (bool) {
        uint256 distance = price > median ? price - median : median - price;
        return distance * 100 * 1e3 <= median * maxDeviationP;
    }

    function answer(Id memory id, OrderAnswer[] memory answers) internal pure returns (AggregatorAnswer memory) {
        return AggregatorAnswer(id, middle(answers, 0), middle(answers, 1), middle(answers, 2), middle(answers, 3));
    }

    /// @param field 0 open, 1 high, 2 low, 3 current
    /// @return the middle value, or the mean of the two in the middle (truncated)
    function middle(OrderAnswer[] memory answers, uint256 field) private pure returns (uint64) {
        uint64[] memory sorted = new uint64[](answers.length);
        for (uint256 i; i < answers.length; ++i) {
            uint64 value = read(answers[i], field);
            uint256 j = i;
            for (; j > 0 && sorted[j - 1] > value; --j) sorted[j] = sorted[j - 1];
            sorted[j] = value;
        }
        uint256 half = sorted.length / 2;
        if (sorted.length % 2 == 1) return sorted[half];
        return (sorted[half - 1] + sorted[half]) / 2;
    }

    function read(OrderAnswer memory a, uint256 field) private pure returns (uint64) {
        if (field == 0) return a.open;
        if (field == 1) return a.high;
        return field == 2 ? a.low : a.current;
    }
}
