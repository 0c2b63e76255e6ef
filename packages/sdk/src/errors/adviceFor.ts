import { ERRORS, type ErrorCode } from '@bezel/protocol/wire'

const ADVICE: Readonly<Partial<Record<ErrorCode, string>>> = {
  INVALID_SIGNATURE:
    'Check that the key is the one you mean and that name, chain and Diamond are those of this deployment.',
  NONCE_REUSED: 'Sign again with a new nonce.',
  AGENT_UNKNOWN: 'Authorise the agent first (agents.authorize), on this chain.',
  API_KEY_UNKNOWN: 'Issue a key for this chain (agents.issueApiKey); a key is replaced when its label is issued again.',
  AGENT_NOT_DELEGATED: 'The trader must send details.delegationTx (agents.delegate).',
  AGENT_EXPIRED: 'Authorise the agent again with a later expiry (agents.authorize).',
  AGENT_REVOKED: 'Authorise the agent again (agents.authorize).',
  TRADER_MISMATCH: 'Use the address that these credentials belong to.',
  IDEMPOTENCY_CONFLICT: 'Choose another clientId for another order.',
  ORDER_NOT_MODIFIABLE: 'Look at the order again before you try to change it.',
  TOO_MANY_PREPARED_ORDERS: 'Send or cancel some of the prepared orders, or wait until they expire.',
  SIMULATION_REVERTED: 'Nothing was prepared. Check balance, allowance and terms; details.calldata can be replayed.',
  SUBMISSION_MISMATCH: 'The order is as it was. Report the transaction that was prepared for it.',
  RATE_LIMITED: 'Wait until the window ends (Retry-After).',
  INTERNAL: 'Report it to the operator with the request id and the time.',
}

/** What to do about an answer, in a sentence. */
export function adviceFor(code: string): string {
  if (!Object.hasOwn(ERRORS, code)) return 'This code is unknown to this version of the client.'
  const known = code as ErrorCode
  return ADVICE[known] ?? RULES[ERRORS[known].retry]
}

const RULES = {
  as_is: 'Try again after a pause.',
  fix_first: 'Change the request before you send it again.',
  no: 'Sending it again gets the same answer until something else changes.',
} as const
