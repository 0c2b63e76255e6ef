import { coinsOf } from '../coins.ts'
import { coinNameOf, noFields, timeOf, userOf, type InfoBody } from './infoRequest.ts'
import { defineInfo, type InfoType } from './infoType.ts'

// Hyperliquid types that ask for things this service does not have. Clients ask them anyway when they start and take an
// error for an outage, so each type answers with the empty form of its shape. Their requests are checked like those of
// types with data.

const SPOT_META = {
  tokens: [
    {
      name: 'USDC',
      szDecimals: 8,
      weiDecimals: 8,
      index: 0,
      tokenId: '0x00000000000000000000000000000000',
      isCanonical: true,
      evmContract: null,
      fullName: null,
      deployerTradingFeeShare: '0.0',
    },
  ],
  universe: [],
}

const NO_REFERRAL = {
  referredBy: null,
  cumVlm: '0.0',
  unclaimedRewards: '0.0',
  claimedRewards: '0.0',
  builderRewards: '0.0',
  referrerState: { stage: 'needToCreateCode' },
  rewardHistory: [],
  tokenToState: [],
}

const PERIODS = ['day', 'week', 'month', 'allTime', 'perpDay', 'perpWeek', 'perpMonth', 'perpAllTime']
const NO_PORTFOLIO = PERIODS.map((period) => [period, { accountValueHistory: [], pnlHistory: [], vlm: '0.0' }])

const NO_AUCTION = { currentGas: null, durationSeconds: 0, endGas: null, startGas: '0.0', startTimeSeconds: 0 }

const NO_STAKE = { delegated: '0.0', undelegated: '0.0', totalPendingWithdrawal: '0.0', nPendingWithdrawals: 0 }

const NO_RESERVE = {
  borrowYearlyRate: '0.0',
  supplyYearlyRate: '0.0',
  balance: '0.0',
  utilization: '0.0',
  oraclePx: '0.0',
  ltv: '0.0',
  totalSupplied: '0.0',
  totalBorrowed: '0.0',
}

/** Defines a type that gives the same answer to every request that `check` accepts. */
function always(check: (body: InfoBody) => unknown, answer: unknown): InfoType {
  return defineInfo<unknown, unknown>({ parse: check, answer: () => answer })
}

/** Every type that asks for something this service does not have, with its empty answer. */
export const ABSENT_TYPES = {
  /** No spot market: one token, the unit of account, and no pair. */
  spotMeta: always(noFields, SPOT_META),
  spotMetaAndAssetCtxs: always(noFields, [SPOT_META, []]),
  /** No spot balances: the wallet's USDC is part of `clearinghouseState`, and would count twice if it were here too. */
  spotClearinghouseState: always(userOf, { balances: [] }),
  /** No builder-deployed dexs: only the main one, which has no name. */
  perpDexs: always(noFields, [null]),
  /** No outcome markets. */
  outcomeMeta: always(noFields, { outcomes: [], questions: [] }),
  /** No special statuses. */
  exchangeStatus: defineInfo<void, { readonly time: number; readonly specialStatuses: null }>({
    parse: noFields,
    answer: (_request, { now }) => ({ time: now(), specialStatuses: null }),
  }),
  /** No past funding rates: they are not stored. `null` for an unknown coin. */
  fundingHistory: defineInfo<{ readonly coin: string }, readonly never[] | null>({
    parse(body) {
      const coin = coinNameOf(body)
      timeOf(body, 'startTime')
      return { coin }
    },
    answer: ({ coin }, reads) => (coinsOf(reads.markets()).named(coin) === undefined ? null : []),
  }),
  /**
   * No limits per user: limits are per minute and the same for everybody, and the headers of every answer say how much
   * of them is left.
   */
  userRateLimit: defineInfo({
    parse: userOf,
    answer: (_user, { requestsPerMinute }) => ({
      cumVlm: '0.0',
      nRequestsUsed: 0,
      nRequestsCap: requestsPerMinute,
      nRequestsSurplus: 0,
    }),
  }),
  /** No account modes: every account is of the same kind. */
  userAbstraction: always(userOf, 'disabled'),
  /** No builder fees. */
  maxBuilderFee: always(userOf, 0),
  /** No referrals through the facade. */
  referral: always(userOf, NO_REFERRAL),
  /** No subaccounts. */
  subAccounts: always(userOf, null),
  subAccounts2: always(userOf, null),
  /** No vaults. */
  vaultDetails: always(noFields, null),
  vaultSummaries: always(noFields, []),
  leadingVaults: always(userOf, []),
  userVaultEquities: always(userOf, []),
  /** No orders in slices (TWAP). */
  twapHistory: always(userOf, []),
  userTwapSliceFills: always(userOf, []),
  userTwapSliceFillsByTime: always((body) => [userOf(body), timeOf(body, 'startTime')], []),
  /** No staking and no validators: the chain has its own. */
  delegations: always(userOf, []),
  delegatorSummary: always(userOf, NO_STAKE),
  delegatorHistory: always(userOf, []),
  delegatorRewards: always(userOf, []),
  validatorSummaries: always(noFields, []),
  validatorL1Votes: always(noFields, []),
  gossipRootIps: always(noFields, []),
  gossipPriorityAuctionStatus: always(noFields, [[], []]),
  /** No markets deployed by users, and no auctions for them. */
  perpDeployAuctionStatus: always(noFields, NO_AUCTION),
  spotPairDeployAuctionStatus: always(noFields, NO_AUCTION),
  spotDeployState: always(userOf, { states: [], gasAuction: NO_AUCTION }),
  perpDexLimits: always(noFields, null),
  perpDexStatus: always(noFields, { totalNetDeposit: '0.0' }),
  outcomeTemplates: always(noFields, []),
  settledOutcome: always(noFields, null),
  /** No token but the unit of account, which is described by `spotMeta`. */
  tokenDetails: always(noFields, null),
  /** No lending. */
  allBorrowLendReserveStates: always(noFields, []),
  borrowLendReserveState: always(noFields, NO_RESERVE),
  borrowLendUserState: always(userOf, { tokenToState: [], health: 'healthy', healthFactor: null }),
  userBorrowLendInterest: always((body) => [userOf(body), timeOf(body, 'startTime')], []),
  /** No limits by leverage, and no list of markets or accounts at their limit: the contracts check each order. */
  maxMarketOrderNtls: always(noFields, []),
  perpsAtOpenInterestCap: always(noFields, []),
  liquidatable: always(noFields, []),
  /** No builders, no shared wallets, no ranks. */
  approvedBuilders: always(userOf, []),
  userToMultiSigSigners: always(userOf, null),
  isVip: always(userOf, false),
  userDexAbstraction: always(userOf, false),
  /** No custody: nothing is transferred, deposited or withdrawn here, and nobody is asked for consent. */
  legalCheck: always(userOf, { acceptedTerms: true, userAllowed: true, restrictions: 'n' }),
  preTransferCheck: always(userOf, { fee: '0.0', isSanctioned: false, userExists: true, userHasSentTx: true }),
  usdcRouting: always(noFields, { depositRoute: 'bridge', withdrawalRoute: 'bridge' }),
  /** No history of an account's value: it is not stored. */
  portfolio: always(userOf, NO_PORTFOLIO),
} satisfies Readonly<Record<string, InfoType>>
