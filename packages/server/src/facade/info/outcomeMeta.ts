/** There are no outcome markets. */
export function outcomeMeta(): unknown {
  return { outcomes: [], questions: [] }
}
