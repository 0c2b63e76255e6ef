import { ERRORS, type ErrorCode } from '@bezel/protocol'
import { ERROR_DETAILS } from '../../packages/server/src/docs/reference/errorPage.ts'
import { docLines, pascal } from './pythonTypes.ts'

const HEAD = `"""One class for each error code. Made from the table of errors by \`npm run reference\`: do not edit."""

from __future__ import annotations

from typing import Any, TypedDict

from .errors import ApiError


class Details(TypedDict, total=False):
    """The fields that the details of every refusal have."""

    remedy: str
    requestId: str
    docs: str`

/** Returns the module of refusals: a class for each code, with the fields of its details. */
export function pythonRefusals(): string {
  const codes = Object.keys(ERRORS) as ErrorCode[]
  const table = codes.map((code) => `    "${code}": ${className(code)},`)
  return [HEAD, ...codes.flatMap(classesOf), ['REFUSALS: dict[str, type[ApiError]] = {', ...table, '}'].join('\n')]
    .join('\n\n\n')
    .concat('\n')
}

function classesOf(code: ErrorCode): string[] {
  const fields = Object.entries(ERROR_DETAILS[code] ?? {})
  const name = className(code)
  const own = fields.length === 0 ? 'Details' : `${name}Details`
  const { status, when, retry } = ERRORS[code]
  const details = [
    `class ${own}(Details, total=False):`,
    ...docLines(`The details of ${code}.`, '    '),
    '',
    ...fields.flatMap(([field, meaning]) => [`    ${field}: Any`, ...docLines(sentence(meaning), '    ')]),
  ].join('\n')
  const refusal = [
    `class ${name}(ApiError):`,
    ...docLines(`${code}, HTTP ${status}. ${when}`, '    '),
    '',
    `    code = "${code}"`,
    `    retryable = ${retry === 'as_is' ? 'True' : 'False'}`,
    `    details: ${own}`,
  ].join('\n')
  return fields.length === 0 ? [refusal] : [details, refusal]
}

function sentence(text: string): string {
  return `${text[0]!.toUpperCase()}${text.slice(1).replace(/\.?$/, '.')}`
}

/** Returns `RateLimited` for `RATE_LIMITED`. */
function className(code: ErrorCode): string {
  return pascal(code.toLowerCase())
}
