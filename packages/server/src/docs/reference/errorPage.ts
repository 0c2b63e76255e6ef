import { CONTRACT_ERRORS, ERRORS, ORDER_REASON_TEXTS, type ErrorCode, type RetryRule } from '@bezel/protocol'
import { table } from '../markdown/writeMarkdown.ts'

/** Returns docs/reference/errors.md. */
export function errorPage(): string {
  const codes = (Object.keys(ERRORS) as ErrorCode[]).toSorted((a, b) => ERRORS[a].status - ERRORS[b].status)
  const rows = codes.map((code) => {
    const { status, retry } = ERRORS[code]
    return [String(status), `[\`${code}\`](#${code.toLowerCase()})`, RETRY_TEXT[retry]]
  })
  const parts = [
    HEAD,
    '## All codes',
    table(['HTTP', 'Code', 'Retry'], rows),
    '## Each of them',
    ...codes.map(section),
    CONTRACT_HEAD,
    table(['Error', 'Words', 'Cause', 'Remedy'], contractRows()),
    REASONS_HEAD,
    table(['Reason', 'Cause', 'Remedy'], reasonRows()),
  ]
  return `${parts.join('\n\n')}\n`
}

/** Returns the section of a code. It has its own heading, so that programs and pages can link to it. */
function section(code: ErrorCode): string {
  const { status, when, remedy, retry } = ERRORS[code]
  const details = Object.entries(ERROR_DETAILS[code] ?? {}).map(([field, meaning]) => [`\`${field}\``, meaning])
  const summary = `**HTTP ${status}** · retry: ${RETRY_TEXT[retry]}`
  const parts = [
    `### ${code}`,
    summary,
    `**Cause.** ${when}`,
    `**Remedy.** ${remedy}`,
    table(['`details`', ''], details),
  ]
  return parts.filter((part) => part !== '').join('\n\n')
}

function contractRows(): string[][] {
  return Object.entries(CONTRACT_ERRORS).map(([name, { words, cause, remedy }]) => [
    `\`${name}\``,
    words,
    cause,
    remedy,
  ])
}

function reasonRows(): string[][] {
  return Object.entries(ORDER_REASON_TEXTS).map(([reason, { cause, remedy }]) => [
    `\`${reason}\``,
    sentence(cause),
    sentence(remedy),
  ])
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`
}

const CONTRACT_HEAD = `## Contract errors

The errors of the contracts, by the name in \`details.errorName\` of [\`SIMULATION_REVERTED\`](#simulation_reverted). The exchange facade answers in the same words.`

const REASONS_HEAD = `## Order reasons

The values of \`reason\` of an [order](rest.md#schema-order) that the contracts refused after its transaction was sent. A refused order costs gas, and in some cases a part of the fee: [fills](rest.md#listfills) tell.`

const RETRY_TEXT: Readonly<Record<RetryRule, string>> = {
  as_is: 'as it is',
  fix_first: 'fix first',
  no: 'no',
}

const HEAD = `# Errors

Made from the table of errors in \`packages/protocol/src/values/errors.ts\` by \`npm run reference\`.

Every error is JSON: \`{"code", "message", "details"}\`. Codes are stable. Messages are for people: never match them. The \`details\` of every
error have \`remedy\`, the change that helps, \`requestId\`, which finds the request in the service's log, and \`docs\`, the path of its paragraph on this page.

\`\`\`json
{
  "code": "PRECISION_ERROR",
  "message": "size has more than 8 decimals: 0.0100000001.",
  "details": {
    "remedy": "Round the value of \`details.field\` to \`details.maxDecimals\` decimals.",
    "field": "size",
    "value": "0.0100000001",
    "maxDecimals": 8,
    "requestId": "3b0f4a52-7c1d-4a57-9d0a-0f0a3c1f6f5e",
    "docs": "/docs/errors#precision_error"
  }
}
\`\`\`

What to do with the same request:

| Retry | Meaning |
|---|---|
| as it is | send it again after a pause (\`Retry-After\` says how long, where it is sent) |
| fix first | change the request, its credentials or its surroundings, then send it again |
| no | it gets the same answer until something else changes |

Never send a signed request twice with the same nonce: sign it anew for each attempt, also where the table says "as it is". A \`POST /orders\`
whose answer was lost is repeated with the same \`clientId\`, or not before the account's orders were read.

An order that the contracts refuse after its transaction was sent is not an HTTP error: its status becomes \`rejected\` and [\`reason\`](#order-reasons) says why.`

/** The documented fields of `details`, by code. Other fields may come and go. */
export const ERROR_DETAILS: Readonly<Partial<Record<ErrorCode, Readonly<Record<string, string>>>>> = {
  VALIDATION_ERROR: { issues: 'list of `{path, message}`, one for each fault' },
  INVALID_SIGNATURE: {
    operationId: 'the operation; of a signed request also the primary type of the signed struct',
    path: 'the path with its query, exactly as it was received',
    bodyHash: 'keccak256 of the bytes of the body as they were received',
    method: 'only of signed requests: the method',
    timestamp: 'only of signed requests: the timestamp of the header',
    nonce: 'only of signed requests: the nonce of the header',
    values:
      "only of a struct that the trader's wallet signs in the body: the value of each of its members, as it has to be signed",
    domain: 'the EIP-712 domain of this deployment on this chain',
    digest: 'the 32 bytes that should have been signed; null when a value can not be encoded',
    recovered: 'the address that signed this digest with this signature; null when there is none',
  },
  TIMESTAMP_OUT_OF_WINDOW: { timestamp: 'the timestamp that was sent', serverTime: "the server's clock, epoch ms" },
  AGENT_UNKNOWN: { agent: 'the address in the agent header' },
  AGENT_NOT_DELEGATED: { delegationTx: '`{to, data, chainId}` for the trader to send' },
  SCOPE_MARKET_NOT_ALLOWED: { market: 'the market of the request', markets: 'the markets that the scope allows' },
  SCOPE_LEVERAGE_EXCEEDED: { leverage: 'the leverage of the request', maxLeverage: 'the maximum of the scope' },
  SCOPE_SPEND_CAP_EXCEEDED: {
    notionalUsd: 'the notional of the request',
    spentUsd: 'the notional that was opened today (UTC)',
    dailySpendCapUsd: 'the daily cap of the scope',
  },
  TRADER_MISMATCH: {
    trader: 'only of credentials: the trader that they belong to',
    named: 'only of credentials: the trader that the path or the header names',
  },
  MARKET_NOT_FOUND: {
    market: 'the name that was sent, at most 24 characters of it',
    nearest: 'the name that was probably meant, as bodies and the stream spell it; or null',
    nearestPath: 'the same name as paths spell it; or null',
  },
  CHAIN_NOT_FOUND: { chains: 'the chains that are served' },
  IDEMPOTENCY_CONFLICT: {
    clientId: 'the `clientId` of the request',
    differing: 'the fields that differ from the earlier order',
  },
  ORDER_NOT_MODIFIABLE: { id: 'the id of the order', status: 'its current status' },
  TOO_MANY_PREPARED_ORDERS: { limit: 'the number that is allowed' },
  PRECISION_ERROR: {
    field: 'the name of the field',
    value: 'the value that was sent',
    maxDecimals: 'the number of decimals that are allowed',
  },
  LEVERAGE_OUT_OF_RANGE: {
    leverage: 'the leverage of the request',
    minLeverage: 'the minimum of the market',
    maxLeverage: 'the maximum of the market',
  },
  SIZE_BELOW_MINIMUM: {
    notionalUsd: 'size × the price at which it is expected to execute, before skew',
    minPositionUsd: 'the minimum notional',
    collateralUsd: 'the collateral that the order needs',
    minCollateralUsd: 'the minimum collateral',
  },
  MARKET_CLOSED: {
    market: 'the market of the request',
    opensAt: 'the time at which its trading hours begin again, epoch ms; null when nobody knows',
  },
  COLLATERAL_NOT_SUPPORTED: {
    collateral: 'the collateral of the request',
    supported: 'the collaterals that can be used',
  },
  SIMULATION_REVERTED: {
    errorName: 'custom error of the contracts, or null',
    cause: 'only of [known errors](#contract-errors): the state or value that leads to it',
    calldata: 'the inner call, to replay',
    collateral: 'only where balance or allowance is missing: the token',
    needed: 'only with `collateral`: the amount that the request takes',
    balance: "only with `collateral`: the trader's balance",
    allowance: "only with `collateral`: the trader's allowance for the Diamond",
    approvalTx: "only where allowance is missing: `{to, data, chainId}`, the trader's `approve` of what is needed",
  },
  UNSUPPORTED: {
    field: 'only for a value that the contracts would never honour: the name of the field',
    value: 'only with `field`: the value that was sent',
    side: 'only with `field`: the side of the order or position',
    reference: 'only with `field`: the price that the value is measured by',
    nearest: 'only for an amount of collateral below one step: `{below, above}`, the amounts around it',
  },
  RATE_LIMITED: { scope: 'the limit: `ip`, `agent` or `agent-writes`' },
  NOT_READY: {
    reason:
      'the cause, such as `starting`, `snapshot`, `feed_stale`, `chain_lagging`, `overloaded`, `reorg_too_deep`, `diamond_changed`, `relayer_elsewhere`, `paused`, `clock`, `stopping`, `store_lagging` or `store_unavailable`',
  },
}
