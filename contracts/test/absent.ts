/** Functions of the live Diamond (protocol's diamondAbi) that the local one does not have; README.md says why. */
export const ABSENT_FUNCTIONS: readonly string[] = [
  'openTradeNative',
  'updateLeverageNative',
  'increasePositionSizeNative',
  'withdrawPositivePnl',
  'triggerOrderWithSignatures',
  'getWrappedNativeToken',
  'isWrappedNativeToken',
  'validateOpenTradeOrder',
  'getPairFlags',
  'getGnsStakingInfo',
  'getLinkFee',
  'getVaultClosingFeeP',
  'getNativeTransferEnabled',
  'getNativeTransferGasLimit',
]

/** Events of the live Diamond that the local one never emits. */
export const ABSENT_EVENTS: readonly string[] = [
  'PositivePnlWithdrawalInitiated',
  'ManualNegativePnlRealizationInitiated',
  'NativeTokenWrapped',
  'TradePositivePnlWithdrawn',
  'TradeHoldingFeesManuallyRealized',
  'TradeNegativePnlManuallyRealized',
  'CounterTradeCollateralReturned',
  'CouldNotCloseTrade',
  'TradeCollateralUpdated',
  'CollateralDisabled',
  'GroupUpdated',
  'ReferralFeeCharged',
  'BorrowingPairOiBeforeV10Updated',
  'SignedPricesReceived',
  'Initialized',
]
