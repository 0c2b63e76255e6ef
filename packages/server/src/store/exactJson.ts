const BIGINT_PATTERN = /^-?\d+n$/

/** JSON that keeps whole numbers of any size: a bigint is written as text with an `n` behind it. For values without text of users. */
export function toExactJson(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) => (typeof part === 'bigint' ? `${part}n` : part))
}

export function fromExactJson<Value>(text: string): Value {
  return JSON.parse(text, (_key, part: unknown) =>
    typeof part === 'string' && BIGINT_PATTERN.test(part) ? BigInt(part.slice(0, -1)) : part,
  ) as Value
}
