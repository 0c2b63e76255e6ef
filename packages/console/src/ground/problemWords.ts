/** Words of the page for a code: a title, and the next step where the service's or the SDK's words name functions. */
interface Words {
  readonly title: string
  readonly remedy?: string
}

const SIGN_IN_AGAIN = 'Sign in again with the account button at the top.'
const OPEN_AGENTS = 'Open Agents and authorise the agent again'

/** By code of the service, of the SDK, of wallets and of the console. */
const WORDS: Readonly<Record<string, Words>> = {
  USER_REFUSED: { title: 'Refused in the wallet', remedy: 'Press the button again when you want it after all.' },
  WALLET_BUSY: { title: 'The wallet is waiting', remedy: 'Open the wallet, answer its question, and try again.' },
  WALLET_LOCKED: { title: 'No access to the account', remedy: 'Unlock the wallet and connect it to this page again.' },
  WALLET_OFFLINE: { title: 'The wallet is offline', remedy: 'Check the network in the wallet, and try again.' },
  WALLET_CHAIN: { title: 'Unknown network', remedy: 'Add the network to the wallet, then switch to it.' },
  NO_GAS: { title: 'Not enough for gas', remedy: 'Send it some of the native coin, and try again.' },
  ACCOUNT_CHANGED: { title: 'Account switched' },
  NOT_CONNECTED: { title: 'No wallet' },

  UNAUTHENTICATED: { title: 'Not signed in', remedy: SIGN_IN_AGAIN },
  API_KEY_UNKNOWN: { title: 'Signed out', remedy: SIGN_IN_AGAIN },
  INVALID_SIGNATURE: {
    title: 'Signature not accepted',
    remedy: 'Check that the wallet has the account selected that is shown at the top, and sign again.',
  },
  SIGNED_TOO_LATE: {
    title: 'Signed too late',
    remedy: 'Nothing was sent. Press the button again, and confirm in the wallet within half a minute.',
  },
  NONCE_REUSED: { title: 'Signed twice', remedy: 'Try again: a new signature is asked for.' },
  TIMESTAMP_OUT_OF_WINDOW: {
    title: 'Clock off',
    remedy: 'Try again. If it happens again, set the clock of this machine and reload the page.',
  },

  AGENT_UNKNOWN: { title: 'Agent unknown', remedy: `${OPEN_AGENTS} on this chain.` },
  AGENT_NOT_FOUND: { title: 'Agent unknown', remedy: `${OPEN_AGENTS} on this chain.` },
  AGENT_NOT_DELEGATED: {
    title: 'Agent not delegated',
    remedy: "Open Agents and send the delegation from the trader's wallet, once.",
  },
  AGENT_EXPIRED: { title: 'Agent expired', remedy: `${OPEN_AGENTS} with a later expiry.` },
  AGENT_REVOKED: { title: 'Agent revoked', remedy: `${OPEN_AGENTS}, if that is meant, or trade with the wallet.` },
  SCOPE_READ_ONLY: { title: 'Agent may only read', remedy: `${OPEN_AGENTS} with the permission to trade.` },
  SCOPE_MARKET_NOT_ALLOWED: {
    title: 'Market not in the scope',
    remedy: `Choose a market of its scope. Or: ${OPEN_AGENTS} with this market.`,
  },
  SCOPE_LEVERAGE_EXCEEDED: {
    title: 'Leverage above the scope',
    remedy: `Use less leverage. Or: ${OPEN_AGENTS} with a higher maximum.`,
  },
  SCOPE_SPEND_CAP_EXCEEDED: {
    title: 'Daily cap reached',
    remedy: `Order less or wait for the next day (UTC). Or: ${OPEN_AGENTS} with a higher cap.`,
  },
  TRADER_MISMATCH: { title: 'Another account', remedy: 'Disconnect, and sign in with the account that you mean.' },

  CHAIN_NOT_FOUND: { title: 'Chain not served', remedy: 'Choose another chain at the top.' },
  MARKET_NOT_FOUND: { title: 'No such market', remedy: 'Choose one of the list of markets.' },
  ORDER_NOT_FOUND: { title: 'No such order', remedy: 'Look at the list of orders: it may have ended meanwhile.' },
  POSITION_NOT_FOUND: {
    title: 'No such position',
    remedy: 'Look at the list of positions: it may have been closed or liquidated meanwhile.',
  },
  IDEMPOTENCY_CONFLICT: { title: 'Order already known', remedy: 'Look at the list of orders before you order again.' },
  ORDER_NOT_MODIFIABLE: { title: 'Too late', remedy: 'Look at its present status in the list, and act on that.' },
  TOO_MANY_PREPARED_ORDERS: { title: 'Too many orders prepared', remedy: 'Wait a minute until they expire.' },
  PRECISION_ERROR: { title: 'Too many decimals' },
  LEVERAGE_OUT_OF_RANGE: { title: 'Leverage out of range' },
  SIZE_BELOW_MINIMUM: { title: 'Too small', remedy: 'Order more, or use more collateral.' },
  MARKET_CLOSED: { title: 'Market closed' },
  COLLATERAL_NOT_SUPPORTED: { title: 'Collateral not supported' },
  SIMULATION_REVERTED: { title: 'The contracts would refuse it' },
  VALIDATION_ERROR: { title: 'Not valid', remedy: 'Correct the values, and try again.' },
  UNSUPPORTED: { title: 'Not available' },
  RATE_LIMITED: { title: 'Too many requests', remedy: 'Wait a few seconds, and try again.' },
  INTERNAL: { title: 'The service failed', remedy: 'Look at the account before you repeat it, and tell the operator.' },
  UPSTREAM_UNAVAILABLE: { title: 'The service is waiting for its backend', remedy: 'Try again in a moment.' },
  NOT_READY: { title: 'The service is not ready', remedy: 'Try again in a moment; System shows what it waits for.' },

  NETWORK_ERROR: {
    title: 'No answer',
    remedy: 'Check the connection. Look at the account before you repeat what may have been carried out.',
  },
  TIMEOUT: {
    title: 'No answer in time',
    remedy: 'Check the connection. Look at the account before you repeat what may have been carried out.',
  },
  UNEXPECTED_RESPONSE: { title: 'Unreadable answer', remedy: 'Try again in a moment, or reload the page.' },
  WRONG_CHAIN: { title: 'Wrong network', remedy: 'Switch the wallet to the network that is shown at the top.' },
  WRONG_DIAMOND: { title: 'Wrong contracts', remedy: 'Do not trade through this service before you know why.' },
  UNVERIFIED_TRANSACTION: { title: 'Not what was asked for' },
  PREPARATION_EXPIRED: { title: 'Prepared too long ago', remedy: 'Press the button again.' },
  NODE_FAILED: { title: 'The node did not answer' },
  BROADCAST_FAILED: { title: 'Not sent' },
  SUBMIT_REPORT_FAILED: { title: 'Sent, but not reported', remedy: 'Do not send it again: it is found on the chain.' },
  TRANSACTION_REVERTED: { title: 'Reverted', remedy: 'Look at the account, and repeat what you still want.' },
  TRANSACTION_TIMEOUT: { title: 'Not mined yet' },
  DELEGATION_TIMEOUT: { title: 'Delegation not seen yet', remedy: 'Do not send it again: Agents shows when it is.' },
  APPROVAL_TIMEOUT: { title: 'Approval not seen yet', remedy: 'Do not send it again before it was mined or dropped.' },
  ORDER_NOT_FILLED: { title: 'Not filled', remedy: 'The timeline of the order says why and what to do.' },
  ORDER_NOT_CHANGED: { title: 'Too late' },
  FILL_TIMEOUT: { title: 'Not filled yet', remedy: 'It goes on by itself: do not send it again.' },
  POSITION_UPDATE_REFUSED: { title: 'Change refused' },
  POSITION_UPDATE_TIMED_OUT: {
    title: 'The oracle did not answer',
    remedy: 'Reclaim what is locked with the button beside the position.',
  },
  POSITION_UPDATE_WAIT: { title: 'Not changed yet', remedy: 'It goes on by itself: do not send it again.' },
  BATCH_INTERRUPTED: { title: 'Interrupted', remedy: 'Look at orders and positions, and end what is left.' },
  BATCH_NOT_DONE: { title: 'Some are left', remedy: 'Look at orders and positions, and end what is left.' },
}

/** Returns a few words for a code. */
export function titleOfCode(code: string): string {
  return Object.hasOwn(WORDS, code) ? WORDS[code]!.title : 'Something went wrong'
}

/** Returns the next step for a code in words of the page; null where the message or the service has better ones. */
export function remedyOfCode(code: string, details: object): string | null {
  return detailedRemedy(code, new Map<string, unknown>(Object.entries(details))) ?? WORDS[code]?.remedy ?? null
}

/** Returns the next step with the numbers and names of the refusal. */
function detailedRemedy(code: string, details: ReadonlyMap<string, unknown>): string | null {
  const at = (name: string): string => String(details.get(name) ?? '')
  if (code === 'MARKET_NOT_FOUND' && at('nearest') !== '') return `Did you mean ${at('nearest')}?`
  if (code === 'PRECISION_ERROR' && details.has('maxDecimals')) {
    return `Use at most ${at('maxDecimals')} decimals for ${at('field')}.`
  }
  if (code === 'LEVERAGE_OUT_OF_RANGE' && details.has('maxLeverage')) {
    return `Choose a leverage from ${at('minLeverage')} to ${at('maxLeverage')}.`
  }
  if (code === 'MARKET_CLOSED') {
    const opensAt = details.get('opensAt')
    const when = typeof opensAt === 'number' ? `It opens ${new Date(opensAt).toLocaleString()}. ` : ''
    return `${when}Limit and stop orders are taken meanwhile and wait; or choose another market.`
  }
  const supported = details.get('supported')
  if (code === 'COLLATERAL_NOT_SUPPORTED' && Array.isArray(supported)) return `Use ${supported.join(' or ')}.`
  const issues = details.get('issues')
  if (code === 'VALIDATION_ERROR' && Array.isArray(issues) && issues.length > 0) {
    return `Correct it: ${issues.map(issueWords).join('; ')}.`
  }
  if (code === 'SIMULATION_REVERTED' && details.has('approvalTx')) {
    return `Allow the contracts to take ${at('needed')} ${at('collateral')}, and try again.`
  }
  return null
}

/** Returns an issue of a request as `leverage must be a number`. */
function issueWords(issue: { readonly path?: unknown; readonly message?: unknown }): string {
  const field = String(issue.path ?? '')
    .split(/[./]/)
    .at(-1)!
  return `${field} ${String(issue.message ?? '')}`.trim()
}
