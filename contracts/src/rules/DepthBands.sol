// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import "../Constants.sol";

/// @notice 30 uint16 in two words: 14 behind the 32-bit total depth (whole USD) of the first, 16 in the second.
library DepthBands {
    function totalDepthUsd(uint256 slot1) internal pure returns (uint256) {
        return uint32(slot1);
    }

    function band(uint256 slot1, uint256 slot2, uint256 i) internal pure returns (uint256) {
        return i < 14 ? uint16(slot1 >> (32 + 16 * i)) : uint16(slot2 >> (16 * (i - 14)));
    }

    function decode(uint256 slot1, uint256 slot2) internal pure returns (uint16[] memory bands) {
        bands = new uint16[](DEPTH_BANDS);
        for (uint256 i; i < DEPTH_BANDS; ++i) bands[i] = uint16(band(slot1, slot2, i));
    }

    struct Book {
        uint256 shares1; // bps of the total depth, cumulative
        uint256 shares2;
        uint256 offsets1; // ppm of the price
        uint256 offsets2;
    }

    /// @param usd 1e18
    /// @return average-fill impact of `usd` through the bands, 1e10 per percent
    function averageImpactP(Book memory book, uint256 usd) internal pure returns (uint256) {
        uint256 total = totalDepthUsd(book.shares1) * 1e18;
        if (total == 0 || usd == 0) return 0;

        uint256 remaining = usd;
        uint256 weighted;
        uint256 depthBefore;
        uint256 offsetBefore;
        for (uint256 i; i < DEPTH_BANDS && remaining > 0; ++i) {
            uint256 share = band(book.shares1, book.shares2, i);
            uint256 depth = (share * total) / 1e4;
            uint256 offset = band(book.offsets1, book.offsets2, i) * 1e6;
            if (depth > depthBefore) {
                uint256 available = depth - depthBefore;
                uint256 taken = remaining < available || share == 1e4 ? remaining : available;
                weighted += (offsetBefore + ((offset - offsetBefore) * taken) / available / 2) * taken;
                remaining -= taken;
                depthBefore = depth;
            }
            offsetBefore = offset;
        }
        return weighted / usd;
    }
}
