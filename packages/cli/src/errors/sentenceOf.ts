import { SettingsError } from '@bezel/protocol/program'
import {
  ApprovalTimeoutError,
  BezelApiError,
  BezelConfigError,
  BezelError,
  BezelNetworkError,
  BezelNodeError,
  BroadcastError,
  decimal,
  DelegationTimeoutError,
  FillTimeoutError,
  OrderNotFilledError,
  missingAllowance,
  OrderSubmitReportError,
  PositionUpdateTimedOutError,
  UnverifiedTransactionError,
  WrongChainError,
  WrongDiamondError,
} from '@bezel/sdk'
import { laterAdvice, reclaimAdvice, rightsAdvice } from '../output/advice.ts'
import { CliError } from './cliError.ts'

/** Sentences for users of the command line, where the SDK's own messages name functions instead of commands. */
const REFUSALS: Readonly<Record<string, string>> = {
  UNAUTHENTICATED: 'The request carried no credentials. Name a key: bezel --help says where keys come from.',
  AGENT_UNKNOWN: 'The service does not know this agent on this chain. Authorise it first: `bezel agent authorise`',
  AGENT_NOT_FOUND: 'The service does not know this agent on this chain. Authorise it first: `bezel agent authorise`',
  API_KEY_UNKNOWN:
    'The service does not know this API key on this chain; a key is replaced when its label is issued again. Set BEZEL_API_KEY to a new one: `bezel key issue`',
  AGENT_NOT_DELEGATED:
    "The agent is authorised, but not the trader's delegate on the chain. The trader makes it that: `bezel agent delegate`",
  CHAIN_NOT_FOUND: 'This service does not serve that chain. Name another one with --chain.',
  ORDER_NOT_FOUND:
    'This account has no such order. `bezel orders` lists the open ones, `bezel orders --history` all, and `bezel set` changes a position.',
  POSITION_NOT_FOUND: 'This account has no such position. `bezel positions` lists the open ones.',
  IDEMPOTENCY_CONFLICT: 'This --client-id belongs to a different order. Choose another one.',
}

/**
 * Returns one or two sentences for people: what happened, and what to do. Never a stack, never a secret. Commands stand
 * in backquotes, for `spellCommands`.
 */
export function sentenceOf(error: unknown): string {
  if (error instanceof CliError || error instanceof SettingsError) return error.message
  if (error instanceof BezelApiError) return refusalSentence(error)
  if (error instanceof BezelError) return clientSentence(error)
  const words = error instanceof Error ? error.message.split('\n')[0] : String(error)
  return `Something unexpected happened: ${words}. If it happens again, report it with the command that you gave.`
}

function refusalSentence(error: BezelApiError): string {
  const own = REFUSALS[error.code] ?? rightsSentence(error) ?? detailedSentence(error)
  const id = error.code === 'INTERNAL' && error.requestId !== undefined ? ` Request id: ${error.requestId}.` : ''
  // A refusal that has no sentence of its own here is explained by the service's documentation.
  const docs = own === undefined && error.docs !== undefined ? ` See ${error.docs}` : ''
  return `${error.code}: ${own ?? plainRefusal(error)}${id}${docs}`
}

/** Returns the words of a refusal without a remedy that names fields of the interface, which nobody types here. */
function plainRefusal({ message, details }: BezelApiError): string {
  const remedy: string | undefined = details.remedy
  return remedy?.includes('`') === true ? message.replace(remedy, '').trimEnd() : message
}

/** Returns the sentences about a right that an agent lacks, with the option that gives it. */
function rightsSentence(error: BezelApiError): string | undefined {
  switch (error.code) {
    case 'AGENT_REVOKED':
      return `The trader has revoked this agent. ${rightsAdvice(error.code, {})}`
    case 'AGENT_EXPIRED':
      return `The authorisation of this agent has expired. ${rightsAdvice(error.code, {})}`
    case 'SCOPE_READ_ONLY':
      return `This agent may only read. ${rightsAdvice(error.code, {})}`
    case 'SCOPE_MARKET_NOT_ALLOWED': {
      const { market, markets = [] } = error.details
      const advice = rightsAdvice(error.code, { markets: [...markets, market] })
      return `This agent may trade ${markets.join(', ')}, and not ${market}. ${advice}`
    }
    case 'SCOPE_LEVERAGE_EXCEEDED': {
      const { leverage, maxLeverage } = error.details
      const advice = rightsAdvice(error.code, { leverage })
      return `This agent may use a leverage of up to ${maxLeverage}x, and this is ${leverage}x. ${advice}`
    }
    case 'SCOPE_SPEND_CAP_EXCEEDED': {
      const { notionalUsd = '0', spentUsd = '0', dailySpendCapUsd } = error.details
      const advice = rightsAdvice(error.code, { capUsd: wholeAbove(decimal.add(notionalUsd, spentUsd)) })
      return `This agent may open ${dailySpendCapUsd} USD a day (UTC): it has opened ${spentUsd}, and this is ${notionalUsd} more. ${advice}`
    }
    default:
      return undefined
  }
}

/** Returns a whole number above a positive decimal, because the notional moves with the price. */
function wholeAbove(text: string): string {
  return String(BigInt(text.split('.')[0]!) + 1n)
}

/** The options and operands by the names that the interface has for them. */
const OPTIONS: Readonly<Record<string, string | undefined>> = {
  amount: '--add or --remove',
  clientId: '--client-id',
  collateral: '--collateral',
  dailySpendCapUsd: '--daily-cap',
  expiresAt: '--expires',
  label: 'LABEL',
  leverage: '--leverage',
  limit: '--limit',
  market: 'MARKET',
  markets: '--markets',
  maxLeverage: '--max-leverage',
  name: '--name',
  price: 'The price',
  size: 'SIZE',
  sl: '--sl',
  slippage: '--slippage',
  tp: '--tp',
}

/** Returns the sentence of a refusal whose details say more than its code. */
function detailedSentence(error: BezelApiError): string | undefined {
  if (error.code === 'TRADER_MISMATCH' && error.details.trader !== undefined && error.details.named !== undefined) {
    const { trader, named } = error.details
    return `This agent or key acts for ${trader}, but ${named} is meant, so nothing was done. Name a trader and an agent that belong together (--as, --trader); \`bezel agent status\` shows whose agent it is.`
  }
  if (error.code === 'VALIDATION_ERROR') {
    const { issues = [] } = error.details
    const named = issues.map(({ path, message }) => `${OPTIONS[path.split(/[./]/).at(-1)!] ?? path} ${message}.`)
    return named.length === 0 ? undefined : named.join(' ')
  }
  if (error.code === 'MARKET_NOT_FOUND') {
    const { nearest } = error.details
    const guess = typeof nearest === 'string' ? ` Did you mean ${nearest}?` : ''
    return `There is no such market on this chain.${guess} \`bezel markets\` lists them.`
  }
  const missing = missingAllowance(error)
  if (missing === undefined || error.code !== 'SIMULATION_REVERTED') return undefined
  const { collateral, amount } = missing
  const { allowance, balance, needed } = error.details
  return `The order takes ${String(needed)} ${collateral}. The trader has ${String(balance)} and lets the Diamond take ${String(allowance)}. Allow that and a little more, since the price moves until the order is sent, or much more at once, since a new price of a resting order takes its collateral anew: \`bezel approve ${collateral} ${amount}\``
}

function clientSentence(error: BezelError): string {
  if (error instanceof FillTimeoutError) {
    const seen = error.order === undefined ? 'could not be read' : `is still ${error.order.status}`
    return `Order ${error.orderId} ${seen}. It goes on by itself, so do not send it again: ${laterAdvice(error.orderId, error.order?.status ?? 'prepared')}`
  }
  if (error instanceof OrderNotFilledError && error.order.status === 'timed_out') {
    return `Order ${error.order.id} timed out: the oracle did not answer. Get the collateral back with \`bezel cancel ${error.order.id}\``
  }
  if (error instanceof OrderSubmitReportError) {
    return `Transaction ${error.txHash} of order ${error.orderId} was sent, but the service could not be told. Do not send it again: it is found on the chain, and \`bezel orders --history\` shows it.`
  }
  if (error instanceof DelegationTimeoutError) {
    return `The delegation was sent (${error.txHash}), but the service has not seen it on the chain yet. Do not send it again: look with \`bezel agent status\``
  }
  if (error instanceof UnverifiedTransactionError)
    return error.message.replace('your own expectedPrice', 'your own price (--expect)')
  if (error instanceof PositionUpdateTimedOutError) return reclaimAdvice(error.position.id)
  if (error instanceof ApprovalTimeoutError) {
    return `The approval was sent (${error.txHash}), but the chain does not show it yet. Do not send it again: look with \`bezel account\``
  }
  if (error instanceof BezelConfigError) return configSentence(error)
  if (error instanceof WrongChainError) return wrongChainSentence(error)
  if (error instanceof WrongDiamondError) {
    return `The service uses the Diamond ${error.found}, but ${error.expected} is expected. Check --url and --chain; if you know that its Diamond is the right one, name it with --diamond.`
  }
  return unreachedSentence(error)
}

function configSentence(error: BezelConfigError): string {
  switch (error.code) {
    case 'NO_AGENT':
    case 'NO_CREDENTIALS':
      return 'This command needs an agent: name its keystore with --keystore, or set BEZEL_AGENT_KEY.'
    case 'NO_TRADER':
      return 'Whose account is meant? Name the trader with --trader 0x..., or set BEZEL_TRADER.'
    case 'NO_SENDER':
      return "This command sends a transaction: name the chain's node with --rpc, or set BEZEL_RPC_URL."
    default:
      return error.message
  }
}

function wrongChainSentence({ message, expected, found }: WrongChainError): string {
  if (!message.startsWith('The sender')) return message
  return `The node is on chain ${found}, but chain ${expected} is meant. Correct --rpc (BEZEL_RPC_URL) or --chain.`
}

/** Matches the message about a service on this machine. */
const LOCAL_CALL = /^\w+ https?:\/\/(?:localhost|127(?:\.\d+){3}|\[::1\])[:/]/

/** Returns the sentence of an error about the service, the node or a transaction that the node did not take. */
function unreachedSentence(error: BezelError): string {
  const { message } = error
  if (error instanceof BroadcastError && error.reason === 'no_gas')
    return `${message} What an agent has is shown by \`bezel agent status\``
  if (error instanceof BezelNodeError) {
    return message.replace("The sender's node", "The chain's node").replace('its URL is', '--rpc (BEZEL_RPC_URL) is')
  }
  if (!(error instanceof BezelNetworkError)) return message
  if (error.code === 'NETWORK_ERROR' && LOCAL_CALL.test(message)) {
    const advice =
      'Is it running? npm start runs the service with its local chain. Another address is named with --url (BEZEL_URL), another folder of devnet.json with BEZEL_DATA.'
    return message.replace('Check the base URL and the connection.', advice)
  }
  return message.replace('the base URL', '--url (BEZEL_URL)').replace(' (timeoutMs)', '')
}
