import { ERRORS, type ErrorCode, type RetryRule } from '@bezel/protocol'
import { table } from '../markdown/table.ts'
import { ERROR_DETAILS } from './errorDetails.ts'

const RETRY_TEXT: Readonly<Record<RetryRule, string>> = {
  as_is: 'as it is',
  fix_first: 'fix first',
  no: 'no',
}

const HEAD = `# Errors

Made from the table of errors in \`packages/protocol/src/errors.ts\` by \`npm run reference\`.

Every error is JSON: \`{"code", "message", "details"?}\`. Codes are stable. Messages are for people: never match them.

\`\`\`json
{
  "code": "PRECISION_ERROR",
  "message": "size has more than 8 decimals: 0.0100000001.",
  "details": { "field": "size", "value": "0.0100000001", "maxDecimals": 8 }
}
\`\`\`

What to do with the same request:

| Retry | Meaning |
|---|---|
| as it is | send it again after a pause (\`Retry-After\` says how long, where it is sent) |
| fix first | change the request, its credentials or its surroundings, then send it again |
| no | it gets the same answer until something else changes |

A signed request is never sent twice with the same nonce: sign it anew for each try, also where the table says "as it is". A \`POST /orders\`
whose answer was lost is repeated with the same \`clientId\`, or not before the account's orders were read.

An order that the contracts refuse after its transaction was sent is no HTTP error: its status becomes \`rejected\` and \`reason\` says why.`

/** docs/reference/errors.md. */
export function errorPage(): string {
  const codes = (Object.keys(ERRORS) as ErrorCode[]).toSorted((a, b) => ERRORS[a].status - ERRORS[b].status)
  const rows = codes.map((code) => {
    const { status, retry } = ERRORS[code]
    return [String(status), `[\`${code}\`](#${code.toLowerCase()})`, RETRY_TEXT[retry]]
  })
  const parts = [HEAD, '## All codes', table(['HTTP', 'Code', 'Retry'], rows), '## Each of them', ...codes.map(section)]
  return `${parts.join('\n\n')}\n`
}

/** A heading of its own, so that a program or a page can point at it. */
function section(code: ErrorCode): string {
  const { status, when, retry } = ERRORS[code]
  const details = Object.entries(ERROR_DETAILS[code] ?? {}).map(([field, meaning]) => [`\`${field}\``, meaning])
  const summary = `**HTTP ${status}** · retry: ${RETRY_TEXT[retry]}`
  return [`### ${code}`, summary, when, table(['`details`', ''], details)].filter((part) => part !== '').join('\n\n')
}
