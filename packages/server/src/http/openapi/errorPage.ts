import { ERRORS, type ErrorCode, type RetryRule } from '@bezel/protocol'
import { ERROR_DETAILS } from './errorDetails.ts'

const RETRY_TEXT: Readonly<Record<RetryRule, string>> = {
  as_is: 'as it is',
  fix_first: 'fix first',
  no: 'no',
}

const HEAD = `# Errors

Made from the table of errors in \`packages/protocol/src/errors.ts\` by \`npm run reference\`.

Every error is JSON: \`{"code", "message", "details"?}\`. Codes are stable. Messages are for people: never match them.

What to do with the same request:

| Retry | Meaning |
|---|---|
| as it is | send it again after a pause (\`Retry-After\` says how long, where it is sent) |
| fix first | change the request, its credentials or its surroundings, then send it again |
| no | it gets the same answer until something else changes |

A signed request is never sent twice with the same nonce: sign it anew for each try, also where the table says "as it is". A \`POST /orders\`
whose answer was lost is repeated with the same \`clientId\`, or not before the account's orders were read.

An order that the contracts refuse after its transaction was sent is no HTTP error: its status becomes \`rejected\` and \`reason\` says why.

| HTTP | Code | When | Retry | \`details\` |
|---|---|---|---|---|`

/** docs/reference/errors.md. */
export function errorPage(): string {
  const codes = (Object.keys(ERRORS) as ErrorCode[]).toSorted((a, b) => ERRORS[a].status - ERRORS[b].status)
  return `${HEAD}\n${codes.map(row).join('\n')}\n`
}

function row(code: ErrorCode): string {
  const { status, when, retry } = ERRORS[code]
  return `| ${[status, `\`${code}\``, when, RETRY_TEXT[retry], detailsOf(code)].map(cell).join(' | ')} |`
}

function detailsOf(code: ErrorCode): string {
  return Object.entries(ERROR_DETAILS[code] ?? {})
    .map(([field, meaning]) => `\`${field}\`: ${meaning}`)
    .join('; ')
}

function cell(value: string | number): string {
  return String(value).replaceAll('|', '\\|')
}
