// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import "../requests/OracleRequest.sol";
import "../rules/Exposure.sol";

/// @notice Fills a Diamond with trades that nobody traded, in as many calls as wanted: a chain of live size for a reader
/// that comes late. Run like `Configure`, as an initializer of `diamondCut`, and never a facet.
/// @dev Trades are stored by the same rules as traded ones, so every view agrees with every other. Volume is not
/// counted, as if they were opened long ago, and no money moves: whoever wants them to be paid out gives the Diamond
/// their collateral.
contract Populate {
    /// @notice A pair in which trades are opened, around a price (1e10).
    struct Market {
        uint16 pairIndex;
        uint64 price;
    }

    /// @dev One trade in so many is a resting order, one trader in so many waits for an answer of the oracles.
    uint256 private constant TRADES_PER_RESTING = 6;
    uint256 private constant TRADERS_PER_REQUEST = 8;
    /// @dev One more than the most trades that a new trader has closed before.
    uint256 private constant CLOSED_BEFORE = 50;

    /// @param counts how many trades each trader opens; the rest is drawn from its address
    function openTrades(
        address[] calldata traders,
        uint8[] calldata counts,
        Market[] calldata markets
    ) external {
        for (uint256 i; i < traders.length; ++i) {
            uint256 draw = uint256(keccak256(abi.encode(traders[i])));
            Counter storage counter = appStorage().counters[traders[i]][COUNTER_TRADE_INDEX];
            if (counter.currentIndex == 0) counter.currentIndex = uint32(draw % CLOSED_BEFORE);
            Trade memory last;
            for (uint256 j; j < counts[i]; ++j) {
                draw = uint256(keccak256(abi.encode(draw)));
                last = open(traders[i], markets[draw % markets.length], draw >> 16);
            }
            if ((draw >> 200) % TRADERS_PER_REQUEST == 0) request(last);
        }
    }

    function open(address trader, Market calldata market, uint256 draw) private returns (Trade memory t) {
        t.user = trader;
        t.pairIndex = market.pairIndex;
        t.long = draw % 2 == 0;
        t.leverage = uint24(2e3 + ((draw >> 8) % 18_000));
        t.collateralIndex = uint8(1 + ((draw >> 32) % appStorage().collateralsCount));
        uint256 usd = 100 + ((draw >> 40) % 900);
        t.collateralAmount = uint120(Amounts.fromUsd(t.collateralIndex, usd * 1e18));
        t.openPrice = uint64((uint256(market.price) * (990 + ((draw >> 56) % 21))) / 1e3);
        if ((draw >> 72) % 2 == 0) t.tp = t.long ? t.openPrice * 2 : t.openPrice / 2;
        if ((draw >> 73) % 2 == 0) t.sl = t.long ? t.openPrice / 2 : t.openPrice * 2;
        if ((draw >> 80) % TRADES_PER_RESTING == 0) {
            t.tradeType = (draw >> 96) % 2 == 0 ? LIMIT : STOP;
            return Records.writeTrade(t, uint16(500 + ((draw >> 104) % 1_000)));
        }
        uint256 size = Amounts.size(t);
        t.positionSizeToken = uint160(Amounts.toTokens(t.collateralIndex, size, t.openPrice));
        t = Records.writeTrade(t, 0);
        HoldingFees.restart(t, market.price);
        BorrowingV1.handle(t, size, true, market.price);
        Exposure.move(t, size, t.positionSizeToken, true);
        TradeFeesData storage fees = appStorage().tradeFeesData[trader][t.index];
        fees.realizedTradingFeesCollateral = uint128((size * (1 + ((draw >> 112) % 20))) / 1e4);
        int128 realized = int128(uint128(t.collateralAmount / (5 + ((draw >> 128) % 50))));
        if ((draw >> 136) % 4 == 0) fees.realizedPnlCollateral = (draw >> 138) % 2 == 0 ? realized : -realized;
    }

    /// @notice Asks for the close of a position, or beside a resting order for a new one on its terms.
    function request(Trade memory t) private {
        PendingOrder memory o;
        o.trade = t;
        o.user = t.user;
        o.orderType = t.tradeType == TRADE ? MARKET_CLOSE : MARKET_OPEN;
        o.maxSlippageP = 1_000;
        o.trade.tradeType = TRADE;
        if (o.orderType == MARKET_OPEN) o.trade.index = 0;
        OracleRequest.send(o, Amounts.size(t));
    }
}
