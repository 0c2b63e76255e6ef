// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import "../Events.sol";
import "./Amounts.sol";

/// @notice Borrowing of the first generation: charged per block by the net open interest of the pair and, apart from
/// it, of the group it is in. A trade owes the larger of both. Accumulators are 1e10 per percent.
library BorrowingV1 {
    /// @notice Two accumulators, or what they gained.
    struct Acc {
        uint64 long;
        uint64 short;
    }

    /// @notice What a pair or a group accrues by, open interest in collateral.
    struct Terms {
        BorrowingData data;
        uint256 oiLong;
        uint256 oiShort;
        uint256 maxOi; // 1e10
        BorrowingFeePerBlockCap cap;
        uint256 precision;
    }

    function groupIndexOf(uint8 collateralIndex, uint16 pairIndex) internal view returns (uint16) {
        BorrowingPairGroup[] storage groups = appStorage().borrowingPairGroups[collateralIndex][pairIndex];
        return groups.length == 0 ? 0 : groups[groups.length - 1].groupIndex;
    }

    /// @return the pair's own cap, or the one of all pairs where it has none
    function capOf(uint8 collateralIndex, uint16 pairIndex) internal view returns (BorrowingFeePerBlockCap memory) {
        BorrowingFeePerBlockCap memory own = appStorage().borrowingPairFeePerBlockCap[collateralIndex][pairIndex];
        return own.maxP > 0 ? own : appStorage().borrowingFeePerBlockCap;
    }

    /// @return next the pair's accumulators at `blockNumber`
    /// @return gained since they were stored
    function pendingPair(
        uint8 collateralIndex,
        uint16 pairIndex,
        uint256 blockNumber,
        uint256 price
    ) internal view returns (Acc memory next, Acc memory gained) {
        PairOiToken storage oi = appStorage().oiToken[collateralIndex][pairIndex];
        Terms memory terms;
        terms.data = appStorage().borrowingPairs[collateralIndex][pairIndex];
        terms.oiLong = uint256(Amounts.fromTokens(collateralIndex, int256(uint256(oi.oiLongToken)), price));
        terms.oiShort = uint256(Amounts.fromTokens(collateralIndex, int256(uint256(oi.oiShortToken)), price));
        terms.maxOi = appStorage().pairMaxOi[collateralIndex][pairIndex];
        terms.cap = capOf(collateralIndex, pairIndex);
        terms.precision = appStorage().collaterals[collateralIndex].precision;
        return advance(terms, blockNumber);
    }

    /// @return next the group's accumulators at `blockNumber`
    /// @return gained since they were stored
    function pendingGroup(
        uint8 collateralIndex,
        uint16 groupIndex,
        uint256 blockNumber
    ) internal view returns (Acc memory next, Acc memory gained) {
        OpenInterest storage oi = appStorage().borrowingGroupOis[collateralIndex][groupIndex];
        Terms memory terms;
        terms.precision = appStorage().collaterals[collateralIndex].precision;
        terms.data = appStorage().borrowingGroups[collateralIndex][groupIndex];
        terms.oiLong = (uint256(oi.long) * terms.precision) / P_10;
        terms.oiShort = (uint256(oi.short) * terms.precision) / P_10;
        terms.maxOi = oi.max;
        return advance(terms, blockNumber);
    }

    /// @notice The heavier side pays by the net open interest, the other one as if it were at the lower cap.
    function advance(Terms memory t, uint256 blockNumber) private pure returns (Acc memory next, Acc memory gained) {
        if (blockNumber < t.data.accLastUpdatedBlock) revert BlockOrder();
        next = Acc(t.data.accFeeLong, t.data.accFeeShort);
        if (t.oiLong == 0 && t.oiShort == 0) return (next, gained);
        uint256 net = t.oiLong > t.oiShort ? t.oiLong - t.oiShort : t.oiShort - t.oiLong;
        uint256 maxOi = (t.maxOi * t.precision) / P_10;
        uint256 minNet = (maxOi * t.cap.minP) / 1e3 / 100;
        uint256 maxNet = t.cap.maxP > 0 ? (maxOi * t.cap.maxP) / 1e3 / 100 : maxOi;
        uint256 blocks = blockNumber - t.data.accLastUpdatedBlock;
        uint64 least = gain(t, blocks, minNet);
        uint64 most = net > minNet ? gain(t, blocks, net < maxNet ? net : maxNet) : least;
        if (t.oiLong > 0) gained.long = t.oiLong < t.oiShort ? least : most;
        if (t.oiShort > 0) gained.short = t.oiLong < t.oiShort ? most : least;
        next.long += gained.long;
        next.short += gained.short;
    }

    function gain(Terms memory t, uint256 blocks, uint256 netOi) private pure returns (uint64) {
        uint256 exponent = t.data.feeExponent;
        if (t.maxOi == 0 || exponent == 0 || netOi == 0) return 0;
        uint256 share = ((netOi * P_10) / t.maxOi) ** exponent;
        uint256 gained = (blocks * t.data.feePerBlock * share) / t.precision ** exponent;
        if (gained > type(uint64).max) revert Overflow();
        return uint64(gained);
    }

    /// @return the fee of a trade: over all groups its pair was in while it was open, the larger of pair and group
    function ofTrade(BorrowingFeeInput memory i) internal view returns (uint256) {
        BorrowingPairGroup[] memory groups = appStorage().borrowingPairGroups[i.collateralIndex][i.pairIndex];
        BorrowingInitialAccFees memory initial = initialOf(i.collateralIndex, i.trader, i.index);
        uint256 feeP;
        if (groups.length == 0) feeP = pairAcc(i) - initial.accPairFee;
        else if (groups[0].block > initial.block) {
            feeP = sideOf(groups[0].pairAccFeeLong, groups[0].pairAccFeeShort, i.long) - initial.accPairFee;
        }
        for (uint256 n = groups.length; n > 0; --n) {
            feeP += duringGroup(i, groups, n - 1, initial);
            if (groups[n - 1].block < initial.block) break;
        }
        return (i.collateral * i.leverage * feeP) / 1e3 / P_10 / 100;
    }

    function initialOf(
        uint8 collateralIndex,
        address trader,
        uint32 index
    ) internal view returns (BorrowingInitialAccFees storage) {
        return appStorage().borrowingInitialAccFees[collateralIndex][trader][index];
    }

    /// @return what the trade owes for the time its pair was in the group `n`, 1e10 per percent
    function duringGroup(
        BorrowingFeeInput memory i,
        BorrowingPairGroup[] memory groups,
        uint256 n,
        BorrowingInitialAccFees memory initial
    ) private view returns (uint256) {
        BorrowingPairGroup memory group = groups[n];
        bool wasBefore = group.block < initial.block;
        uint64 ofGroup;
        uint64 ofPair;
        if (n == groups.length - 1) {
            (Acc memory acc, ) = pendingGroup(i.collateralIndex, group.groupIndex, block.number);
            ofGroup = sideOf(acc.long, acc.short, i.long);
            ofPair = pairAcc(i);
        } else {
            BorrowingPairGroup memory next = groups[n + 1];
            if (wasBefore && next.block <= initial.block) return 0;
            ofGroup = sideOf(next.prevGroupAccFeeLong, next.prevGroupAccFeeShort, i.long);
            ofPair = sideOf(next.pairAccFeeLong, next.pairAccFeeShort, i.long);
        }
        ofGroup -= wasBefore ? initial.accGroupFee : sideOf(group.initialAccFeeLong, group.initialAccFeeShort, i.long);
        ofPair -= wasBefore ? initial.accPairFee : sideOf(group.pairAccFeeLong, group.pairAccFeeShort, i.long);
        return ofGroup > ofPair ? ofGroup : ofPair;
    }

    function pairAcc(BorrowingFeeInput memory i) private view returns (uint64) {
        (Acc memory acc, ) = pendingPair(i.collateralIndex, i.pairIndex, block.number, i.currentPairPrice);
        return sideOf(acc.long, acc.short, i.long);
    }

    function sideOf(uint64 ofLongs, uint64 ofShorts, bool long) private pure returns (uint64) {
        return long ? ofLongs : ofShorts;
    }

    /// @notice Brings pair and group up to this block, moves the group's open interest by the change of a trade, and
    /// lets the trade owe only what accrues from here on.
    function handle(Trade memory t, uint256 sizeDelta, bool open, uint64 price) internal {
        uint16 groupIndex = groupIndexOf(t.collateralIndex, t.pairIndex);
        Acc memory pair = storePair(t.collateralIndex, t.pairIndex, price);
        Acc memory group = storeGroup(t.collateralIndex, groupIndex);
        if (sizeDelta > 0) moveGroupOi(t.collateralIndex, groupIndex, t.long, open, sizeDelta);

        BorrowingInitialAccFees storage initial = initialOf(t.collateralIndex, t.user, t.index);
        initial.accPairFee = sideOf(pair.long, pair.short, t.long);
        initial.accGroupFee = sideOf(group.long, group.short, t.long);
        initial.block = uint48(block.number);
        emit BorrowingInitialAccFeesStored(
            t.collateralIndex,
            t.user,
            t.pairIndex,
            t.index,
            t.long,
            price,
            initial.accPairFee,
            initial.accGroupFee
        );
        emit TradeBorrowingCallbackHandled(
            t.collateralIndex,
            t.user,
            t.pairIndex,
            t.index,
            open,
            t.long,
            price,
            sizeDelta
        );
    }

    function storePair(uint8 collateralIndex, uint16 pairIndex, uint64 price) private returns (Acc memory next) {
        (next, ) = pendingPair(collateralIndex, pairIndex, block.number, price);
        write(appStorage().borrowingPairs[collateralIndex][pairIndex], next);
        emit BorrowingPairAccFeesUpdated(collateralIndex, pairIndex, block.number, price, next.long, next.short);
    }

    function storeGroup(uint8 collateralIndex, uint16 groupIndex) internal returns (Acc memory next) {
        (next, ) = pendingGroup(collateralIndex, groupIndex, block.number);
        write(appStorage().borrowingGroups[collateralIndex][groupIndex], next);
        emit BorrowingGroupAccFeesUpdated(collateralIndex, groupIndex, block.number, next.long, next.short);
    }

    function write(BorrowingData storage data, Acc memory next) private {
        data.accFeeLong = next.long;
        data.accFeeShort = next.short;
        data.accLastUpdatedBlock = uint48(block.number);
    }

    /// @dev Group 0 means no group and has no open interest.
    function moveGroupOi(uint8 collateralIndex, uint16 groupIndex, bool long, bool increase, uint256 size) private {
        if (groupIndex == 0) return;
        uint256 amount = (size * P_10) / appStorage().collaterals[collateralIndex].precision;
        if (amount > type(uint72).max) revert Overflow();
        uint72 delta = uint72(amount);
        OpenInterest storage oi = appStorage().borrowingGroupOis[collateralIndex][groupIndex];
        if (long) oi.long = moved(oi.long, delta, increase);
        else oi.short = moved(oi.short, delta, increase);
        emit BorrowingGroupOiUpdated(collateralIndex, groupIndex, long, increase, delta, oi.long, oi.short);
    }

    function moved(uint72 oi, uint72 delta, bool increase) private pure returns (uint72) {
        if (increase) return oi + delta;
        return oi > delta ? oi - delta : 0;
    }

    /// @notice Puts a pair with its open interest into another group. The pair's accumulators stay as last stored.
    function assign(uint8 collateralIndex, uint16 pairIndex, uint16 groupIndex) internal {
        uint16 previous = groupIndexOf(collateralIndex, pairIndex);
        if (groupIndex == previous) return;
        Acc memory left = storeGroup(collateralIndex, previous);
        Acc memory entered = storeGroup(collateralIndex, groupIndex);
        PairOiCollateral storage oi = appStorage().oiCollateral[collateralIndex][pairIndex];
        moveGroupOi(collateralIndex, previous, true, false, oi.oiLongCollateral);
        moveGroupOi(collateralIndex, previous, false, false, oi.oiShortCollateral);
        moveGroupOi(collateralIndex, groupIndex, true, true, oi.oiLongCollateral);
        moveGroupOi(collateralIndex, groupIndex, false, true, oi.oiShortCollateral);
        BorrowingData storage pair = appStorage().borrowingPairs[collateralIndex][pairIndex];
        appStorage().borrowingPairGroups[collateralIndex][pairIndex].push(
            BorrowingPairGroup({
                groupIndex: groupIndex,
                block: uint48(block.number),
                initialAccFeeLong: entered.long,
                initialAccFeeShort: entered.short,
                prevGroupAccFeeLong: left.long,
                prevGroupAccFeeShort: left.short,
                pairAccFeeLong: pair.accFeeLong,
                pairAccFeeShort: pair.accFeeShort,
                __placeholder: 0
            })
        );
    }

    /// @return whether `sizeCollateral` more on a side stays inside the limit of the pair's group; 0 = no limit
    function isWithinGroupLimit(
        uint8 collateralIndex,
        uint16 pairIndex,
        bool long,
        uint256 sizeCollateral
    ) internal view returns (bool) {
        uint16 groupIndex = groupIndexOf(collateralIndex, pairIndex);
        OpenInterest storage oi = appStorage().borrowingGroupOis[collateralIndex][groupIndex];
        if (oi.max == 0) return true;
        uint256 added = (sizeCollateral * P_10) / appStorage().collaterals[collateralIndex].precision;
        return (long ? oi.long : oi.short) + added <= oi.max;
    }
}
