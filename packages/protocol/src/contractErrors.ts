import { decodeErrorResult, parseAbi, type Hex } from 'viem'
import { errorsAbi } from './abi/errorsAbi.ts'

/** An error of the contracts, explained to the person whose request they refused. */
export interface ContractError {
  /** One sentence: the refusal itself. */
  readonly words: string
  /** One sentence: the state or the value that leads to it. */
  readonly cause: string
  /** One sentence: the change after which the request can pass. */
  readonly remedy: string
}

/** Standard errors of ERC-20 tokens, which the Diamond passes on. */
export const tokenErrorsAbi = parseAbi([
  'error ERC20InsufficientBalance(address sender, uint256 balance, uint256 needed)',
  'error ERC20InsufficientAllowance(address spender, uint256 allowance, uint256 needed)',
  'error SafeERC20FailedOperation(address token)',
])

export type ContractErrorName = (typeof errorsAbi)[number]['name'] | (typeof tokenErrorsAbi)[number]['name']

const row = (words: string, cause: string, remedy: string): ContractError => ({ words, cause, remedy })

const LOOK_AGAIN = 'Read the account again and act on what is there now.'
const WAIT = 'Wait until the other request has ended, then send this one again.'
const REPORT = 'No change of the request helps: report it to the operator with the request id.'

/** An error of calls that only the governance of the Diamond makes. */
const settings = (words: string): ContractError =>
  row(words, 'Only calls that change the settings of the Diamond raise it.', REPORT)

/** An error of calls that only oracles, and the keepers that bring their prices, make. */
const oracle = (words: string): ContractError =>
  row(words, 'Only calls that deliver prices to the Diamond raise it.', REPORT)

/** An error of referrals, rewards and staking. */
const rewards = (words: string): ContractError =>
  row(words, 'Only calls about referrals, rewards and staking raise it.', REPORT)

/** An error that says which request is in the way of another. */
const busy = (words: string, cause: string): ContractError => row(words, cause, WAIT)

/** Every error of the contracts in words. The one table from which native and facade refusals are written. */
export const CONTRACT_ERRORS: Readonly<Record<ContractErrorName, ContractError>> = {
  // Trading: errors that a trader's own request can meet.
  TradeTpInvalid: row(
    'The take profit is on the wrong side of the price.',
    "A long's take profit has to be above the price of the order, a short's below it.",
    'Set another take profit, or none.',
  ),
  TradeSlInvalid: row(
    'The stop loss is on the wrong side of the price.',
    "A long's stop loss has to be below the price of the order, a short's above it.",
    'Set another stop loss, or none.',
  ),
  WrongTp: row(
    'The take profit is not valid.',
    'It is on the wrong side of the price, or further away than the largest gain allows.',
    'Set another take profit, or none.',
  ),
  WrongSl: row(
    'The stop loss is not valid.',
    'It is on the wrong side of the price, or further away than the largest loss allows.',
    'Set another stop loss, or none.',
  ),
  NoTp: row('There is no take profit to execute.', 'The position has no take profit any more.', LOOK_AGAIN),
  NoSl: row('There is no stop loss to execute.', 'The position has no stop loss any more.', LOOK_AGAIN),
  WrongLeverage: row(
    'The leverage is not allowed.',
    'It is outside the range of the market, the same as before, or what would be left has less than 0.1x.',
    'Choose a leverage within minLeverage and maxLeverage of the market.',
  ),
  InsufficientCollateral: row(
    'The collateral is too small.',
    'An order needs five times the smallest fee of the market, a position that is changed needs it once.',
    'Order more, with less leverage, or leave more collateral in the position.',
  ),
  InsufficientBalance: row(
    'A transfer of tokens failed.',
    "The trader's wallet has too little of the collateral, or the Diamond may take too little of it.",
    'Bring the collateral to the wallet and approve the Diamond for it.',
  ),
  ERC20InsufficientBalance: row(
    'The wallet has too little of the collateral.',
    'The request takes more tokens than the trader has.',
    'Bring the collateral to the wallet, or order less.',
  ),
  ERC20InsufficientAllowance: row(
    'The Diamond may not take that much of the collateral.',
    'The request takes more tokens than the trader approved the Diamond for.',
    'Let the trader approve the Diamond for the collateral.',
  ),
  SafeERC20FailedOperation: row(
    'A transfer of tokens failed.',
    'The token refused to move: mostly too little balance or allowance, or an address that the token has blocked.',
    'Check the balance of the trader and its allowance for the Diamond.',
  ),
  PriceImpactTooHigh: row(
    'The order would move the price too far.',
    'Spread and price impact would cost more than 40 % of the collateral at once.',
    'Order less, or with less leverage.',
  ),
  MaxSlippageZero: row(
    'The slippage is zero.',
    'The contracts want room between the expected price and the execution.',
    'Allow a slippage of at least 0.001 %.',
  ),
  Paused: row(
    'Trading is paused.',
    'The governance of the Diamond has stopped all trading, or all but closing and cancelling.',
    'Wait until trading is open again; closing and cancelling may still work.',
  ),
  ConflictingPendingOrder: busy(
    'The position already waits for another request.',
    'A position takes one close or change at a time, until the oracle has answered it or it was reclaimed.',
  ),
  AlreadyBeingMarketClosed: busy(
    'The position is being closed already.',
    'A close of this position waits for the oracle.',
  ),
  PendingTrigger: busy(
    'The order or the stop is being executed at this moment.',
    'A keeper has asked the oracle for its price, and nothing may change until the answer.',
  ),
  RequestAlreadyPending: busy('The same request waits already.', 'The oracle has not answered the request before.'),
  DoesntExist: row('There is no such trade.', 'It was closed, executed or cancelled meanwhile.', LOOK_AGAIN),
  NoTrade: row('There is no such trade.', 'It was closed, executed or cancelled meanwhile.', LOOK_AGAIN),
  NoOrder: row('There is no such request.', 'The oracle has answered it meanwhile, or it was reclaimed.', LOOK_AGAIN),
  NotYourOrder: row(
    'The order is of somebody else.',
    'The trader of the call is not the one of the order.',
    LOOK_AGAIN,
  ),
  WaitTimeout: row(
    'The request can not be reclaimed yet.',
    'The oracle still has time to answer: only so many blocks after the request it may be reclaimed.',
    'Wait some blocks, then cancel again.',
  ),
  WrongTradeType: row(
    'The trade is of another kind than the call expects.',
    'A resting order was executed meanwhile, or a counter trade has more leverage than is allowed to it.',
    LOOK_AGAIN,
  ),
  WrongOrderType: row(
    'The request is of another kind than the call expects.',
    'Only market requests can be reclaimed, and only resting orders, stops and liquidations be triggered.',
    LOOK_AGAIN,
  ),
  WrongOrder: row('The order is of another kind than the call expects.', 'It changed meanwhile.', LOOK_AGAIN),
  InvalidDecreasePositionSizeInput: row(
    'The partial close is not valid.',
    'It has to lower either the collateral or the leverage, and exactly one of them.',
    'Close another size, or the whole position.',
  ),
  InvalidIncreasePositionSizeInput: row(
    'The increase is not valid.',
    'It needs a leverage, an expected price and a slippage above zero.',
    'Add another size.',
  ),
  NewPositionSizeSmaller: row(
    'The position would not grow.',
    'An increase has to end with a larger size than before.',
    'Add a larger size.',
  ),
  ZeroValue: row('A value is zero that must not be.', 'Mostly the expected price of a close.', REPORT),
  TradeOpenPriceZero: row('The price is zero.', 'An order without a price can not be stored.', 'Set a price.'),
  TradePositionSizeZero: row('The size is zero.', 'Collateral times leverage rounds to nothing.', 'Order more.'),
  TradePairNotListed: row(
    'The market is not listed.',
    'The Diamond does not trade this pair, or no longer.',
    'Choose a market of GET /v1/{chain}/markets.',
  ),
  PairNotListed: row(
    'The market is not listed.',
    'The Diamond does not trade this pair, or no longer.',
    'Choose a market of GET /v1/{chain}/markets.',
  ),
  InvalidCollateralIndex: row(
    'The collateral can not be used.',
    'The Diamond does not know the token, or takes no new trades in it.',
    'Choose a collateral that the market lists.',
  ),
  CollateralNotActive: row(
    'The collateral can not be used.',
    'The Diamond takes no new trades in this token.',
    'Choose a collateral that the market lists.',
  ),
  NotWrappedNativeToken: row(
    'The collateral is not the wrapped native coin.',
    'Native coin can only be sent for trades in its wrapped token.',
    'Trade in the wrapped native coin, or send no native coin.',
  ),
  DelegateNotApproved: row(
    'The sender is not the delegate of the trader.',
    'A trader has one delegate, and another one may have replaced it.',
    'Let the trader send setTradingDelegate for this agent.',
  ),
  DelegatedActionNotAllowed: row(
    'A delegate may not make this call.',
    'Calls that carry native coin, trigger orders or are delegated again are the own business of the sender.',
    'Let the trader make the call itself.',
  ),
  NotAuthorized: row(
    'This trade can not be changed that way.',
    'It was opened under an older version of the contracts.',
    'Close it, and open it again.',
  ),
  NotAllowed: row('The call is not allowed.', 'The sender may not make it, or not now.', REPORT),
  WrongAccess: row('The sender may not make this call.', 'It needs a role that only the governance has.', REPORT),
  Overflow: row(
    'A number is too large for the contracts.',
    'The size or the leverage is beyond any bound.',
    'Order less.',
  ),
  AboveMax: row(
    'A value is above its maximum.',
    'One transaction holds at most 20 calls, and some settings have an upper bound.',
    'Split the request into smaller ones.',
  ),
  BelowMin: row(
    'A value is below its minimum.',
    'The position would be left with less than nothing after its fees.',
    'Change it by less, or close it.',
  ),
  PriceZero: row('There is no price.', 'A price that the contracts need is zero.', 'Try again in a moment.'),
  TradeInfoCollateralPriceUsdZero: row(
    'There is no price of the collateral.',
    "The token's own price feed answers zero.",
    'Try again in a moment, or use another collateral.',
  ),
  ReentrancyGuardReentrantCall: row(
    'The call came in the middle of another one.',
    'The Diamond does one thing at a time.',
    'Send it as a transaction of its own.',
  ),
  NotFound: row('The Diamond does not know this call.', 'It was changed, and the service has not noticed yet.', REPORT),
  ZeroAddress: row('An address is zero.', 'Mostly the delegate of setTradingDelegate.', 'Name an address.'),
  UnsupportedChain: row('The contracts do not know this chain.', 'They run where they were not made for.', REPORT),

  // Prices: errors of oracles and keepers.
  InvalidCandle: oracle('The answer of the oracle is no valid candle.'),
  InvalidCurrentPrice: oracle('A signed price is not valid.'),
  InvalidExpiryTimestamp: oracle('A signed price has expired.'),
  ExpiryTooFar: oracle('A signed price is valid for too long.'),
  InvalidSignature: oracle('The signature of a price is not valid.'),
  WrongSignaturesCount: oracle('A price has too few or too many signatures.'),
  WrongSignerIdOrder: oracle('The signers of a price are not in their order.'),
  MinAnswersNotReached: oracle('Too few oracles answered.'),
  SourceNotOracleOfRequest: oracle('The answer is not from an oracle of the request.'),
  TransferAndCallToOracleFailed: oracle('The oracle could not be paid.'),
  PendingOrderNotOpen: oracle('The request was answered already.'),
  FromBlockMismatch: oracle('Signed prices begin at different blocks.'),
  WrongFromBlock: oracle('A signed price begins at the wrong block.'),
  LookbackMismatch: oracle('Signed prices look back differently.'),
  DuplicateOrUnsortedPairIndices: oracle('The pairs of signed prices are not sorted.'),
  PairAndCurrentPriceLengthMismatch: oracle('Signed prices and pairs differ in number.'),
  PairIndexMismatchBetweenSigners: oracle('Signers name different pairs.'),
  PairLengthMismatchBetweenSigners: oracle('Signers name different numbers of pairs.'),

  // Referrals, rewards and staking.
  AllyNotActive: rewards('The ally is not active.'),
  AlreadyActive: rewards('It is active already.'),
  AlreadyInactive: rewards('It is inactive already.'),
  NoPendingRewards: rewards('There are no rewards to claim.'),
  NoPendingTriggerRewards: rewards('There are no rewards of triggers to claim.'),
  PointsOverflow: rewards('The points are too large a number.'),
  StakingCooldownActive: rewards('The pause after staking is not over.'),

  // Settings of the Diamond.
  AlreadyExists: settings('It exists already.'),
  BlockOrder: settings('Blocks are not in their order.'),
  BorrowingWrongExponent: settings('The exponent of a borrowing fee is not valid.'),
  BorrowingZeroGroup: settings('The group of a borrowing fee is zero.'),
  CollateralAlreadyActive: settings('The collateral is active already.'),
  CollateralAlreadyDisabled: settings('The collateral is disabled already.'),
  DepthBandsAboveMax: settings('A depth band is above its maximum.'),
  DepthBandsIncomplete: settings('Depth bands are missing.'),
  EndLeverageTooHigh: settings('The last leverage of liquidation settings is too high.'),
  EndLiqThresholdTooLow: settings('The last threshold of liquidation settings is too low.'),
  FeeNotListed: settings('The fee is not listed.'),
  GroupNotListed: settings('The group is not listed.'),
  InitError: settings('The initialisation failed.'),
  InitializationFunctionReverted: settings('The initialisation of a facet reverted.'),
  InvalidAddress: settings('An address is not valid.'),
  InvalidAddresses: settings('Addresses are not valid.'),
  InvalidAmount: settings('An amount is not valid.'),
  InvalidFacetCutAction: settings('The change of facets is not valid.'),
  InvalidInputLength: settings('Lists differ in length.'),
  InvalidPoolType: settings('The kind of a pool is not valid.'),
  InvalidShareSum: settings('Shares do not add up.'),
  MaxLiqSpreadPTooHigh: settings('The spread of liquidations is too high.'),
  MissingCollaterals: settings('Collaterals are missing.'),
  NotContract: settings('An address is no contract.'),
  OracleAlreadyListed: settings('The oracle is listed already.'),
  PairAlreadyListed: settings('The pair is listed already.'),
  StartLeverageTooLow: settings('The first leverage of liquidation settings is too low.'),
  StartLiqThresholdTooHigh: settings('The first threshold of liquidation settings is too high.'),
  TimeoutBlocksZero: settings('The timeout of requests is zero.'),
  WrongCollateralUsdDecimals: settings('The decimals of a price feed are not valid.'),
  WrongDepthBandsOrder: settings('Depth bands are not in their order.'),
  WrongFees: settings('Fees are not valid.'),
  WrongFeeTier: settings('A fee tier is not valid.'),
  WrongIndex: settings('An index is not valid.'),
  WrongLength: settings('Lists differ in length.'),
  WrongLeverages: settings('Leverages are not valid.'),
  WrongLiqParamsLeverages: settings('The leverages of liquidation settings are not valid.'),
  WrongLiqParamsThresholds: settings('The thresholds of liquidation settings are not valid.'),
  WrongParams: settings('Settings are not valid.'),
  WrongWindowsCount: settings('The number of volume windows is not valid.'),
  WrongWindowsDuration: settings('The duration of volume windows is not valid.'),
}

/** Returns the explanation of an error; `undefined` for one that no table knows. */
export function explainContractError(errorName: string | null): ContractError | undefined {
  if (errorName === null || !Object.hasOwn(CONTRACT_ERRORS, errorName)) return undefined
  return CONTRACT_ERRORS[errorName as ContractErrorName]
}

/** The reason for a revert, as far as its bytes tell. */
export interface RevertReason {
  /**
   * Name of the custom error, or Solidity's own `Error` or `Panic`; the four-byte selector of an unknown error; `null`
   * for a revert without data.
   */
  readonly errorName: string | null
  /** The text of an `Error` or the code of a `Panic`, otherwise `null`. */
  readonly text: string | null
}

const KNOWN_ERRORS = [
  ...errorsAbi,
  ...tokenErrorsAbi,
  ...parseAbi(['error Error(string)', 'error Panic(uint256)']),
] as const

/** Maximum length of a revert text in an answer, because foreign contracts choose that text. */
const MAX_TEXT_CHARS = 200

const SELECTOR_CHARS = 10

/** Decodes the bytes of a revert. */
export function revertReason(data: Hex | undefined): RevertReason {
  if (data === undefined || data.length < SELECTOR_CHARS) return { errorName: null, text: null }
  try {
    const { errorName, args } = decodeErrorResult({ abi: KNOWN_ERRORS, data })
    const hasText = errorName === 'Error' || errorName === 'Panic'
    return { errorName, text: hasText ? String(args[0]).slice(0, MAX_TEXT_CHARS) : null }
  } catch {
    return { errorName: data.slice(0, SELECTOR_CHARS), text: null }
  }
}
