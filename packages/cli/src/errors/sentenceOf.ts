import { SettingsError } from '@bezel/protocol/program'
import {
  ApprovalTimeoutError,
  BezelApiError,
  BezelConfigError,
  BezelError,
  BezelNetworkError,
  BroadcastError,
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
import { reclaimAdvice } from '../output/pendingUpdate.ts'
import { CliError } from './cliError.ts'

/** Sentences for users of the command line, where the SDK's own messages name functions instead of commands. */
const REFUSALS: Readonly<Record<string, string>> = {
  UNAUTHENTICATED: 'The request carried no credentials. Name a key: bezel --help says where keys come from.',
  AGENT_UNKNOWN: 'The service does not know this agent on this chain. Authorise it first: bezel agent authorise.',
  AGENT_NOT_FOUND: 'The service does not know this agent on this chain. Authorise it first: bezel agent authorise.',
  API_KEY_UNKNOWN:
    'The service does not know this API key on this chain. Issue one (bezel key issue) and set BEZEL_API_KEY; a key is replaced when its label is issued again.',
  AGENT_NOT_DELEGATED:
    "The agent is authorised, but not yet the trader's delegate on the chain. Run bezel agent authorise again, which sends the transaction.",
  AGENT_EXPIRED:
    'The authorisation of this agent has expired. Authorise it again with a later --expires: bezel agent authorise.',
  AGENT_REVOKED: 'The trader has revoked this agent. Authorise it again: bezel agent authorise.',
  CHAIN_NOT_FOUND: 'This service does not serve that chain. Name another one with --chain.',
  ORDER_NOT_FOUND: 'This account has no such order. bezel orders lists the open ones, bezel orders --history all.',
  POSITION_NOT_FOUND: 'This account has no such position. bezel positions lists the open ones.',
  ORDER_NOT_MODIFIABLE: 'The order can no longer be changed or cancelled. Look at it again: bezel orders --history.',
  IDEMPOTENCY_CONFLICT: 'This --client-id belongs to a different order. Choose another one.',
}

/** Returns one or two sentences for people: what happened, and what to do. Never a stack, never a secret. */
export function sentenceOf(error: unknown): string {
  if (error instanceof CliError || error instanceof SettingsError) return error.message
  if (error instanceof BezelApiError) return refusalSentence(error)
  if (error instanceof BezelError) return clientSentence(error)
  const words = error instanceof Error ? error.message.split('\n')[0] : String(error)
  return `Something unexpected happened: ${words}. If it happens again, report it with the command that you gave.`
}

function refusalSentence(error: BezelApiError): string {
  const sentence = REFUSALS[error.code] ?? detailedSentence(error) ?? error.message
  const id = error.code === 'INTERNAL' && error.requestId !== undefined ? ` Request id: ${error.requestId}.` : ''
  // A refusal that has no sentence of its own here is explained by the service's documentation.
  const docs = sentence === error.message && error.docs !== undefined ? ` See ${error.docs}` : ''
  return `${error.code}: ${sentence}${id}${docs}`
}

/** Returns the sentence of a refusal whose details say more than its code. */
function detailedSentence(error: BezelApiError): string | undefined {
  const { trader, named } = error.details
  if (error.code === 'TRADER_MISMATCH' && typeof trader === 'string' && typeof named === 'string') {
    return `This agent or key acts for ${trader}, but ${named} is meant, so nothing was done. Name a trader and an agent that belong together (--as, --trader); bezel agent status shows whose agent it is.`
  }
  if (error.code === 'MARKET_NOT_FOUND') {
    const { nearest } = error.details
    const guess = typeof nearest === 'string' ? ` Did you mean ${nearest}?` : ''
    return `There is no such market on this chain.${guess} bezel markets lists them.`
  }
  const missing = missingAllowance(error)
  if (missing === undefined) return undefined
  const { collateral, amount } = missing
  const { allowance, balance } = error.details
  return `The order takes ${amount} ${collateral}. The trader has ${String(balance)} and lets the Diamond take ${String(allowance)}. Allow it with bezel approve ${collateral} ${amount}, or more at once: a new price of a resting order takes its collateral anew.`
}

function clientSentence(error: BezelError): string {
  if (error instanceof FillTimeoutError) {
    const seen = error.order === undefined ? 'could not be read' : `is still ${error.order.status}`
    return `Order ${error.orderId} ${seen}. It goes on by itself, so do not send it again: look at it with bezel orders --history, or end it with bezel cancel ${error.orderId}.`
  }
  if (error instanceof OrderNotFilledError && error.order.status === 'timed_out') {
    return `Order ${error.order.id} timed out: the oracle did not answer. Get the collateral back with bezel cancel ${error.order.id}.`
  }
  if (error instanceof OrderSubmitReportError) {
    return `Transaction ${error.txHash} of order ${error.orderId} was sent, but the service could not be told. Do not send it again: it is found on the chain, and bezel orders --history shows it.`
  }
  if (error instanceof DelegationTimeoutError) {
    return `The delegation was sent (${error.txHash}), but the service has not seen it on the chain yet. Do not send it again: look with bezel agent status.`
  }
  if (error instanceof UnverifiedTransactionError)
    return error.message.replace('your own expectedPrice', 'your own price (--expect)')
  if (error instanceof PositionUpdateTimedOutError) return reclaimAdvice(error.position.id)
  if (error instanceof ApprovalTimeoutError) {
    return `The approval was sent (${error.txHash}), but the chain does not show it yet. Do not send it again: look with bezel account.`
  }
  if (error instanceof BezelConfigError) return configSentence(error)
  if (error instanceof WrongChainError) return wrongChainSentence(error)
  if (error instanceof WrongDiamondError) {
    return `The service uses the Diamond ${error.found}, but ${error.expected} is expected. Check --url and --chain; if you know that its Diamond is the right one, name it with --diamond.`
  }
  if (error instanceof BroadcastError) return broadcastSentence(error)
  if (error instanceof BezelNetworkError)
    return error.message.replace('the base URL', '--url (BEZEL_URL)').replace(' (timeoutMs)', '')
  return error.message
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

function broadcastSentence({ message }: BroadcastError): string {
  if (!/insufficient funds|exceeds the balance/i.test(message)) return message
  return 'The wallet has too little of the native coin to pay for the transaction. Send it some and try again; bezel agent status shows what it has.'
}
