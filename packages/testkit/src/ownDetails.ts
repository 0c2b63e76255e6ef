import assert from 'node:assert/strict'

/** Returns the details of an error answer without the three that every error has, after a check of these. */
export function ownDetails(details: unknown): Record<string, unknown> {
  const { remedy, requestId, docs, ...own } = details as Record<string, unknown>
  assert.match(String(remedy), /^[A-Z`][^\n]+\.$/)
  assert.match(String(requestId), /^[A-Za-z0-9._-]{1,64}$/)
  assert.match(String(docs), /^\/docs\/errors#[a-z_]+$/)
  return own
}
