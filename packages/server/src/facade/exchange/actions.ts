/** How an action is answered. */
export type ActionKind =
  /** An L1 action of an agent that trades. */
  | 'trade'
  /** Signed by the master wallet and carried out here. */
  | 'user-signed'
  /** Answered ok, whoever sent it, and nothing happens: some clients send it unasked, and again and again after an error. */
  | 'noop'
  /** Moves funds or hands over an account: refused before anything else is looked at. */
  | 'custody'
  /** Exists on the exchange and not here. */
  | 'unsupported'

/** Every action that a public client knows, by `action.type`. */
export const ACTIONS = {
  order: 'trade',
  cancel: 'trade',
  cancelByCloid: 'trade',
  modify: 'trade',
  batchModify: 'trade',
  updateLeverage: 'trade',
  updateIsolatedMargin: 'trade',
  scheduleCancel: 'trade',

  approveAgent: 'user-signed',

  approveBuilderFee: 'noop',
  noop: 'noop',
  setReferrer: 'noop',

  agentSendAsset: 'custody',
  borrowLend: 'custody',
  cDeposit: 'custody',
  cWithdraw: 'custody',
  claimRewards: 'custody',
  convertToMultiSigUser: 'custody',
  createSubAccount: 'custody',
  createVault: 'custody',
  linkStakingUser: 'custody',
  multiSig: 'custody',
  sendAsset: 'custody',
  sendToEvmWithData: 'custody',
  spotSend: 'custody',
  spotUser: 'custody',
  subAccountModify: 'custody',
  subAccountSpotTransfer: 'custody',
  subAccountTransfer: 'custody',
  tokenDelegate: 'custody',
  usdClassTransfer: 'custody',
  usdSend: 'custody',
  vaultDistribute: 'custody',
  vaultModify: 'custody',
  vaultTransfer: 'custody',
  withdraw3: 'custody',

  CSignerAction: 'unsupported',
  CValidatorAction: 'unsupported',
  agentEnableDexAbstraction: 'unsupported',
  agentSetAbstraction: 'unsupported',
  cancelAll: 'unsupported',
  evmUserModify: 'unsupported',
  gossipPriorityBid: 'unsupported',
  perpDeploy: 'unsupported',
  registerReferrer: 'unsupported',
  reserveRequestWeight: 'unsupported',
  setDisplayName: 'unsupported',
  spotDeploy: 'unsupported',
  topUpIsolatedOnlyMargin: 'unsupported',
  twapCancel: 'unsupported',
  twapOrder: 'unsupported',
  userDexAbstraction: 'unsupported',
  userPortfolioMargin: 'unsupported',
  userSetAbstraction: 'unsupported',
  validatorL1Stream: 'unsupported',
} as const satisfies Readonly<Record<string, ActionKind>>

type NamesOf<Kind extends ActionKind> = {
  [Name in keyof typeof ACTIONS]: (typeof ACTIONS)[Name] extends Kind ? Name : never
}[keyof typeof ACTIONS]

/** The actions that need a function of their own. */
export type TradeAction = NamesOf<'trade'>
export type UserSignedAction = NamesOf<'user-signed'>

/** An action with what is to be done about it; an `err` is the text of the answer. */
export type ClassifiedAction =
  | { readonly kind: 'trade'; readonly name: TradeAction }
  | { readonly kind: 'user-signed'; readonly name: UserSignedAction }
  | { readonly kind: 'noop' }
  | { readonly kind: 'custody' | 'unsupported'; readonly err: string }

/** Strangers choose the name: no more of it is repeated to them than the longest real one has. */
const MAX_QUOTED_CHARS = 40

/** By name alone, so it comes before the signature. A name nobody knows is unsupported. */
export function classifyAction(type: string): ClassifiedAction {
  const kind: ActionKind = Object.hasOwn(ACTIONS, type) ? ACTIONS[type as keyof typeof ACTIONS] : 'unsupported'
  if (kind === 'trade') return { kind, name: type as TradeAction }
  if (kind === 'user-signed') return { kind, name: type as UserSignedAction }
  if (kind === 'noop') return { kind }
  return { kind, err: kind === 'custody' ? custodyText(type) : unsupportedText(type) }
}

function custodyText(type: string): string {
  return `${type} is not available: this service is non-custodial and never moves funds or accounts. Use the master wallet on chain.`
}

function unsupportedText(type: string): string {
  const name = type.length > MAX_QUOTED_CHARS ? `${type.slice(0, MAX_QUOTED_CHARS)}...` : type
  return `Action ${JSON.stringify(name)} is not supported.`
}
