/** The way an action is answered. */
export type ActionKind =
  /** An L1 action that trades, signed by an agent. */
  | 'trade'
  /** An action signed by the master wallet that the facade carries out. */
  | 'user-signed'
  /**
   * An action that does nothing and is answered ok whoever sent it: some clients send it unasked, and repeat it after
   * every error.
   */
  | 'noop'
  /** An action that moves funds or hands over an account. Refused by its name, before its signature is checked. */
  | 'custody'
  /** An action that exists on the exchange but not here. */
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

/** The kind of an action by its name. `err` is the text of the refusal. */
export type ClassifiedAction =
  | { readonly kind: 'trade'; readonly name: TradeAction }
  | { readonly kind: 'user-signed'; readonly name: UserSignedAction }
  | { readonly kind: 'noop' }
  | { readonly kind: 'custody' | 'unsupported'; readonly err: string }

/**
 * Bounds how much of an unknown name is repeated in the refusal, because strangers choose it. No real name is longer.
 */
const MAX_QUOTED_CHARS = 40

/**
 * Classifies an action by its name alone, so it can run before the signature is checked. An unknown name is
 * unsupported.
 */
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
