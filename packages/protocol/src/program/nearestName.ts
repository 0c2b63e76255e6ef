/** Edits beyond which a guess would be noise; for a short word it is half of its length. */
const MAX_EDITS = 3

/** Returns the candidate that `name` was most likely meant to be, if one is close enough. Capitals do not count. */
export function nearestName(name: string, candidates: readonly string[]): string | undefined {
  const [best] = candidates
    .map((candidate) => ({ candidate, edits: editDistance(name.toUpperCase(), candidate.toUpperCase()) }))
    .filter(({ candidate, edits }) => edits <= Math.min(MAX_EDITS, candidate.length / 2))
    .toSorted((a, b) => a.edits - b.edits)
  return best?.candidate
}

/**
 * Counts the insertions, deletions and replacements between two words (Levenshtein), one row of the table at a time.
 */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, column) => column)
  for (const [line, letter] of [...a].entries()) {
    const next = [line + 1]
    for (const [column, other] of [...b].entries()) {
      const replaced = row[column]! + (letter === other ? 0 : 1)
      next.push(Math.min(replaced, row[column + 1]! + 1, next[column]! + 1))
    }
    row = next
  }
  return row[b.length]!
}
